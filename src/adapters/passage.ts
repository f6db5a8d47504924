import { given } from "../core/given.js";
import type { Hit } from "../core/types.js";

/** A passage that was found, as other libraries pass it on to a model: small, and plain JSON. */
export interface Passage {
  /** `Document.uri` of its document. */
  readonly uri: string;
  /** `Document.title` of its document. */
  readonly title?: string;
  /** 1-based line of the original file, where known. */
  readonly line?: number;
  /** 1-based page of the original file, where it has pages. */
  readonly page?: number;
  /** Time in a recording, in seconds from its start, where it has times. */
  readonly seconds?: number;
  /** The passage itself. */
  readonly text: string;
}

export function passageOf({ uri, title, line, page, seconds, chunk: { text } }: Hit): Passage {
  return { uri, ...given({ title, line, page, seconds }), text };
}
