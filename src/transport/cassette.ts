import type { Dispatcher } from "undici";
import { httpClient } from "../network/http-client.js";
import { readCassette } from "./cassette-file.js";

export type CassetteMode = "record" | "replay";

/** A dispatcher for `createTransport({ dispatcher })` that keeps what it carries. */
export interface Cassette extends Dispatcher {
  /** Writes the file when recording, and closes connections of its own. */
  readonly close: Dispatcher["close"];
}

/**
 * Every exchange on a file, for programs and tests that are to run offline, byte for byte: `record` sends requests on
 * and keeps them with their replies, `replay` answers from the file alone. Streams keep the pieces in which they came;
 * requests that were recorded more than once get their replies in order. Keys are never written: no request header is,
 * and where a reply repeats the key, `[key]` stands instead.
 *
 * In `replay` a request that is not on the cassette fails with a message that names the difference. Close the transport
 * first, then the cassette.
 *
 * @param dispatcher Sends what is recorded. Default: connections of its own.
 * @throws OptionsError (`config`) when the file to replay is missing or damaged.
 */
export async function openCassette(path: string, mode: CassetteMode, dispatcher?: Dispatcher): Promise<Cassette> {
  const { Player, Recorder } = await import("./cassette-dispatchers.js");
  if (mode === "replay") return new Player(path, await readCassette(path));
  const { Agent } = httpClient();
  return new Recorder(path, dispatcher ?? new Agent({ headersTimeout: 0, bodyTimeout: 0 }), dispatcher === undefined);
}
