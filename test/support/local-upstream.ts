import { afterAll, beforeAll } from "vitest";
import { type LocalService, startLocalService } from "../../src/local/service.js";
import { createTransport, type Transport } from "../../src/transport/transport.js";

/** A local service with a transport to it, for all tests of the file or of the group that calls this. */
export function localUpstream(): { readonly transport: Transport } {
  let service: LocalService;
  let transport: Transport;
  beforeAll(async () => {
    service = await startLocalService();
    transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  });
  afterAll(async () => {
    await transport.close();
    await service.close();
  });
  return {
    get transport() {
      return transport;
    },
  };
}
