import type { SentError } from "../../thread/calls.js";
import type { SplitOptions } from "../../text/cuts.js";
import type { Strategy } from "../../text/split.js";
import type { Document } from "../../types.js";
import type { PackedChunks } from "./packed-chunks.js";

/** What a split depends on of a document. */
export type SentDocument = Pick<Document, "uri" | "title" | "mediaType" | "text" | "anchors">;

/** How texts are split where only the default counter is at hand. */
export interface SplitSettings extends Omit<SplitOptions, "tokens"> {
  readonly strategy: Strategy;
}

/** The chunks of a document, or those before the error that ended its splitting. */
export interface SplitDocument {
  readonly chunks: PackedChunks;
  readonly error?: SentError;
}

export type SplitCalls = {
  /** Gives one entry a document, in their order. */
  readonly split: {
    readonly takes: { readonly documents: readonly SentDocument[]; readonly settings: SplitSettings };
    readonly gives: readonly SplitDocument[];
  };
};
