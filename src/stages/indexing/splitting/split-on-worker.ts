import { asError } from "../../../core/errors.js";
import type { RunContext } from "../../../core/pipeline.js";
import { batch, mapConcurrent, unlessAborted } from "../../../core/stream.js";
import type { Chunk, Document } from "../../../core/types.js";
import { deserialiseError } from "../../../thread/calls.js";
import { startThread, WorkerCalls } from "../../../thread/worker-calls.js";
import type { SplitCalls, SplitDocument, SplitSettings } from "./splitting-worker.js";

/** Documents to send at once: some milliseconds of splitting, so that the call itself costs little beside it. */
const groupLimits = { count: 64, weight: 1 << 16, weigh: ({ text }: Document) => text.length, waitMs: 0 };
/** One group being split and one waiting; as many again may be done and not yet read. */
const groupsInFlight = 2;

export interface SplitOnWorkerOptions {
  /** How the next documents are split; called as they are sent. */
  readonly settings: () => SplitSettings;
  /** Splits a document on this thread, for when the worker cannot. */
  readonly inline: (document: Document) => Iterable<Chunk | undefined>;
  /** Ends with the run. Default: a new thread. */
  readonly thread?: SplittingThread;
}

/**
 * Splits documents in a thread that lives as long as the run, in order and a few groups ahead of the reader. The chunks
 * are the same as those split on this thread; if the worker fails, documents are split here.
 */
export async function* splitOnWorker(
  source: AsyncIterable<Document>,
  { settings, inline, thread = new SplittingThread() }: SplitOnWorkerOptions,
  { signal, report }: Pick<RunContext, "signal" | "report">,
): AsyncGenerator<{ readonly document: Document; readonly chunks: Iterable<Chunk | undefined> }> {
  let failed = false;
  const split = async (documents: readonly Document[]) => {
    try {
      const answers = failed ? undefined : await unlessAborted(thread.split(documents, settings()), signal);
      return { documents, answers };
    } catch (error) {
      signal.throwIfAborted();
      if (!failed && !thread.isEnding)
        report({ type: "warning", message: `${asError(error).message}. Documents are split without it` });
      failed = true;
      return { documents, answers: undefined };
    }
  };
  try {
    const groups = mapConcurrent(batch(source, groupLimits), split, { concurrency: groupsInFlight, signal });
    for await (const { documents, answers } of groups) {
      for (const [index, document] of documents.entries()) {
        yield { document, chunks: answers ? chunksOf(document, answers[index]!) : inline(document) };
      }
    }
  } finally {
    await thread.end();
  }
}

function* chunksOf({ uri, text }: Document, { chunks, error }: SplitDocument): Generator<Chunk> {
  // The new fields come first: after the spread, V8 makes a hidden class for each object.
  for (const chunk of chunks) yield { documentId: uri, text: text.slice(chunk.start, chunk.end), ...chunk };
  if (error) throw deserialiseError(error);
}

/** A thread that splits documents with the default token counter. */
export class SplittingThread {
  readonly #calls: WorkerCalls<SplitCalls>;
  #isEnding = false;

  /** @param module the thread's program. */
  constructor(module = new URL("./splitting-worker.js", import.meta.url)) {
    const worker = startThread(module, {});
    worker.unref();
    this.#calls = new WorkerCalls(
      worker,
      (reason, cause) => new Error(`The thread that splits documents has ended: ${reason}`, cause && { cause }),
    );
  }

  /** Whether its results are no longer awaited: documents it was splitting are not lost, only not needed. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Returns one entry per document, in their order. Rejects only when the thread has ended. */
  split(documents: readonly Document[], settings: SplitSettings): Promise<readonly SplitDocument[]> {
    const sent = documents.map(({ uri, title, mediaType, text, anchors }) => ({
      uri,
      text,
      // Only headings matter for splitting, and there may be many other anchors.
      ...(anchors && { anchors: anchors.filter(({ heading }) => heading !== undefined) }),
      ...(title !== undefined && { title }),
      ...(mediaType !== undefined && { mediaType }),
    }));
    return this.#calls.call("split", { documents: sent, settings });
  }

  /** Terminates the thread, also in the middle of its work: it holds nothing but texts. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#calls.terminate();
  }
}
