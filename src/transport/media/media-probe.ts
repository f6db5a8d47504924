import type { MediaFacts, MediaKind } from "../../contract/media.js";

/** Bytes that may be in memory, in a file or far away. */
export interface ReadableMedium {
  /** Of all of it. */
  readonly sizeBytes: number;
  /** The bytes from `start` up to `end`, where `0 <= start < end <= sizeBytes`. */
  readonly read: (start: number, end: number) => Promise<Uint8Array>;
}

/** Tells from its header what a medium is. Implement it to use another reader of media than the built-in ones. */
export interface MediaProbe {
  /**
   * What could not be learned is left out of the facts, and is not judged; a format that is none of the contract's is
   * `unknown` or has a name of its own.
   *
   * @throws Error when the medium is damaged; the request is refused with its message.
   */
  readonly probe: (kind: MediaKind, medium: ReadableMedium) => Promise<MediaFacts>;
}

export function mediumOf(bytes: Uint8Array): ReadableMedium {
  return { sizeBytes: bytes.length, read: (start, end) => Promise.resolve(bytes.subarray(start, end)) };
}
