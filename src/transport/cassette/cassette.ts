import { httpClient } from "../../network/http-client.js";
import type { RequestDispatcher } from "../options.js";
import { readCassette } from "./cassette-file.js";

/** `record` sends requests and keeps the exchanges; `replay` answers from the file alone. */
export type CassetteMode = "record" | "replay";

/** A dispatcher for `createTransport({ dispatcher })` that keeps the exchanges it carries. */
export interface Cassette extends RequestDispatcher {
  /** Writes the file when recording, and closes connections of its own. */
  close(): Promise<void>;
}

/**
 * Keeps every exchange in a file, byte for byte, for programs and tests that are to run offline: `record` sends requests
 * on and keeps them with their replies, `replay` answers from the file alone. Streams keep the pieces in which they came;
 * requests that were recorded more than once get their replies in order. Keys are never written: no request header is,
 * and when a reply repeats the key, `[key]` stands instead.
 *
 * In `replay` a request that is not on the cassette fails with a message that names the difference. Close the transport
 * first, then the cassette.
 *
 * @param dispatcher Sends what is recorded. Default: connections of its own.
 * @throws OptionsError (`config`) when the file to replay is missing or damaged.
 * @example
 * ```ts
 * import { createTransport } from "citewell";
 * import { openCassette } from "citewell/testing";
 * const cassette = await openCassette("test/answers.jsonl", "replay");
 * const transport = createTransport({ baseUrl: "https://service.example/api", apiKey: "any", dispatcher: cassette });
 * ```
 */
export async function openCassette(
  path: string,
  mode: CassetteMode,
  dispatcher?: RequestDispatcher,
): Promise<Cassette> {
  // Loaded on demand: both classes extend one of undici's, which takes 80 ms to load.
  if (mode === "replay") {
    const { Player } = await import("./player.js");
    return new Player(path, await readCassette(path));
  }
  const { Recorder } = await import("./recorder.js");
  const { Agent } = httpClient();
  if (dispatcher) return new Recorder(path, dispatcher);
  const own = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  return new Recorder(path, own, own);
}
