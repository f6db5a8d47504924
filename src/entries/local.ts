/** `citewell/local`: the local inference service, which serves the contract on this machine. */

export { localDefaults, localModels } from "../contract/catalogue.js";
export type { ModelFamily, ModelInfo, ModelType } from "../contract/catalogue.js";
export type { LocalServiceOptions } from "../local/options.js";
export type { LocalService } from "../local/service.js";
export { startLocalService } from "../local/start-local-service.js";
