import type { LocalService, LocalServiceOptions } from "./service.js";

/**
 * Serves the contract over HTTP in this process, with engines that need no network and no weights: they count words,
 * they do not understand them. Resolves once it listens; rejects with the system's error when the port is taken.
 *
 * Beside the contract it answers clients of its neighbours: OpenAI's below `/v1`, Cohere's at `/v2/chat` and `/v2/embed`, Cohere's and
 * Jina's at `/v1/rerank` and `/v2/rerank`, those of text-embeddings-inference at `/rerank`. It answers `GET /openapi.json`, and with `faults` given `GET`, `PUT` and `DELETE /local/faults`.
 * @throws {OptionsError} when an option is unknown or out of range, a folder of models cannot be read, or a package for
 * them is missing.
 * @throws {StoreError} when the file of video tasks is in use by another service, is damaged, or is of a newer version.
 * @example
 * ```ts
 * import { createTransport } from "citewell";
 * import { startLocalService } from "citewell/local";
 * const service = await startLocalService();
 * const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
 * ```
 */
export async function startLocalService(options: LocalServiceOptions = {}): Promise<LocalService> {
  // Loaded here, so that users of a remote service do not load the local one.
  const service = await import("./service.js");
  return service.startLocalService(options);
}
