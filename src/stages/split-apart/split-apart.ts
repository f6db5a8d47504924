import { asError } from "../../errors.js";
import type { RunContext } from "../../pipeline.js";
import { batch, mapConcurrent, unlessAborted } from "../../stream.js";
import { received } from "../../thread/sent-error.js";
import type { Chunk, Document } from "../../types.js";
import { unpacked } from "./packed-chunks.js";
import type { SplitDocument, SplitSettings } from "./split-calls.js";
import { SplittingThread } from "./splitting-thread.js";

/** What goes to the thread at once: enough that asking costs little beside the splitting, some milliseconds of it. */
const groupLimits = { count: 64, weight: 1 << 16, weigh: ({ text }: Document) => text.length, waitMs: 0 };
/** One in work, one that waits for it. As many again may be done and not yet asked for. */
const groupsInFlight = 2;

export interface SplitApartOptions {
  /** How the next documents are split: asked for as they are sent. */
  readonly settings: () => SplitSettings;
  /** Splits a document on this thread, for when the other one cannot. */
  readonly here: (document: Document) => Iterable<Chunk | undefined>;
  /** Is ended with the run. Default: one that is started for it. */
  readonly thread?: SplittingThread;
}

/**
 * Splits documents in a thread that lives as long as the run, in order, a few groups of them ahead of who reads. The
 * chunks of each are those that splitting them here would give; if the thread fails, they are split here.
 */
export async function* splitApart(
  source: AsyncIterable<Document>,
  { settings, here, thread = new SplittingThread() }: SplitApartOptions,
  { signal, report }: Pick<RunContext, "signal" | "report">,
): AsyncGenerator<{ readonly document: Document; readonly chunks: Iterable<Chunk | undefined> }> {
  let failed = false;
  const split = async (documents: readonly Document[]) => {
    try {
      const answers = failed ? undefined : await unlessAborted(thread.split(documents, settings()), signal);
      return { documents, answers };
    } catch (error) {
      signal.throwIfAborted();
      if (!failed) report({ type: "warning", message: `${asError(error).message}. Documents are split without it` });
      failed = true;
      return { documents, answers: undefined };
    }
  };
  try {
    const groups = mapConcurrent(batch(source, groupLimits), split, { concurrency: groupsInFlight, signal });
    for await (const { documents, answers } of groups) {
      for (const [at, document] of documents.entries()) {
        yield { document, chunks: answers ? chunksOf(document, answers[at]!) : here(document) };
      }
    }
  } finally {
    await thread.end();
  }
}

function* chunksOf(document: Document, { chunks, error }: SplitDocument): Generator<Chunk> {
  yield* unpacked(document, chunks);
  if (error) throw received(error);
}
