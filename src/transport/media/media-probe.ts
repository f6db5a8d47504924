import type { MediaFacts, MediaKind } from "../../contract/media.js";

/** Bytes in memory, in a file or at an address. */
export interface ReadableMedium {
  readonly sizeBytes: number;
  /** The bytes from `start` up to `end`, where `0 <= start < end <= sizeBytes`. */
  readonly read: (start: number, end: number) => Promise<Uint8Array>;
}

/** Reads what a medium is from its header. Implement it to use another reader of media than the built-in ones. */
export interface MediaProbe {
  /**
   * Facts that cannot be read are left out, and not judged; a format that the contract lacks is `unknown` or has a name
   * of its own.
   *
   * @throws Error when the medium is damaged; the request is refused with its message.
   */
  readonly probe: (kind: MediaKind, medium: ReadableMedium) => Promise<MediaFacts>;
}

export function mediumOf(bytes: Uint8Array): ReadableMedium {
  return { sizeBytes: bytes.length, read: (start, end) => Promise.resolve(bytes.subarray(start, end)) };
}
