import { parentPort } from "node:worker_threads";
import type { Chunk, Document } from "../../../core/types.js";
import type { SplitOptions } from "../../../text/chunking/cuts.js";
import { split, type Strategy } from "../../../text/chunking/split.js";
import { defaultTokens } from "../../../text/tokens/tokens.js";
import { type SentError, serialiseError } from "../../../thread/calls.js";
import { serveCalls } from "../../../thread/serve-calls.js";

// The splitting thread: it takes texts and returns spans, and may be torn down at any time after it has started.

export type SplitCalls = {
  /** Returns one entry per document, in their order. */
  readonly split: {
    readonly argument: { readonly documents: readonly SentDocument[]; readonly settings: SplitSettings };
    readonly result: readonly SplitDocument[];
  };
};

/** The parts of a document that splitting depends on. */
type SentDocument = Pick<Document, "uri" | "title" | "mediaType" | "text" | "anchors">;

/** How texts are split with the default token counter, the only one that a worker has. */
export interface SplitSettings extends Omit<SplitOptions, "tokens"> {
  readonly strategy: Strategy;
}

/** The chunks of a document, or those before the error that ended its splitting. */
export interface SplitDocument {
  /** Chunks without the fields that the other thread takes from the document. */
  readonly chunks: readonly Omit<Chunk, "documentId" | "text">[];
  readonly error?: SentError;
}

// Loads the vocabulary now, while nothing waits for it.
defaultTokens.count("");

serveCalls<SplitCalls>(parentPort!, {
  split: ({ documents, settings }) => documents.map((document) => splitDocument(document, settings)),
});

function splitDocument(document: SentDocument, { strategy, ...options }: SplitSettings): SplitDocument {
  const chunks: SplitDocument["chunks"][number][] = [];
  try {
    for (const chunkOfText of split(document, { ...options, tokens: defaultTokens }, strategy)) {
      const { id, start, end, context, tokens, parent } = chunkOfText;
      chunks.push({ id, start, end, context, tokens, ...(parent && { parent }) });
    }
    return { chunks };
  } catch (error) {
    return { chunks, error: serialiseError(error) };
  }
}
