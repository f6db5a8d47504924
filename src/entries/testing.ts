/** `citewell/testing`: the upstreams for tests: the local service with its faults, and recorded exchanges. */

export type { LocalServiceOptions } from "../local/options.js";
export type { LocalService } from "../local/service.js";
export { startLocalService } from "../local/start-local-service.js";
export { openCassette } from "../transport/cassette/cassette.js";
export type { Cassette, CassetteMode } from "../transport/cassette/cassette.js";
