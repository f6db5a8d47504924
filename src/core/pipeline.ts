import { setMaxListeners } from "node:events";
import { z } from "zod";
import { asError, CitewellError, FailedDocumentsError, type LoadError, OptionsError } from "./errors.js";
import { abortSignal } from "./call-options.js";
import { optionsOf, resolve } from "./options.js";
import type { Source } from "./stream.js";
import { openTracing } from "./telemetry.js";
import type { OpenSpan, Tracing } from "./tracing.js";
import type { Document } from "./types.js";

/** An event of a run, for whoever watches it. */
export type RunEvent =
  /** `count` more units of `what` are done: `documents`, `chunks`, `tokens`, `requests`. */
  | {
      readonly type: "progress";
      /** Unit that is counted: `documents`, `chunks`, `tokens`, `requests`, `files-found`. */
      readonly what: string;
      /** How many more are done, not how many in all. */
      readonly count: number;
    }
  /** What became of one document. */
  | {
      readonly type: "document";
      /** Address of the document. */
      readonly uri: string;
      /** What became of it. Each document of a run has exactly one. */
      readonly outcome: "added" | "updated" | "unchanged" | "deleted" | "failed";
      /** Chunks that the document has now. */
      readonly chunks: number;
      /** Chunks that went with its earlier version. Default: 0. */
      readonly deletedChunks?: number;
      /** Why it failed. */
      readonly error?: Error;
      /** The document failed in an earlier run, and was not read again since its file has not changed. */
      readonly isRecalled?: boolean;
    }
  /** A file's reading began or is over; what became of it, another event tells. */
  | {
      readonly type: "reading";
      /** Address of the file. */
      readonly uri: string;
      /** False when its reading begins, true when it is over. */
      readonly isOver: boolean;
    }
  /** A file that was passed over, with the reason. */
  | {
      readonly type: "skipped";
      /** Address of the file or document. */
      readonly uri: string;
      /** Why it was passed over, in words. */
      readonly reason: string;
    }
  | {
      readonly type: "warning";
      /** One line for people. */
      readonly message: string;
    };

/** Admits calls while the token budget lasts. */
export interface Budget {
  /** Maximum tokens of all calls together. Default: no limit. */
  readonly maxTokens?: number;
  /**
   * Makes a call of `tokens` tokens by our count, of which the reply says how many the service counted.
   *
   * @throws BudgetError when it does not fit any more; the call was not made then.
   */
  spend<
    Reply extends {
      /** Tokens that the service counted; absent where it counted none. */
      readonly tokens?: number | undefined;
    },
  >(
    tokens: number,
    call: () => Promise<Reply>,
  ): Promise<Reply>;
}

/** Hears of the vectors that a run has paid for, so that none is lost while it waits to be written. */
export interface PaidVectors {
  /** Vectors have arrived, by `vectorKey(chunk)`. */
  landed(vectors: ReadonlyMap<string, Float32Array>): void;
  /** Vectors are in the store. */
  written(keys: Iterable<string>): void;
  /**
   * Vectors of these keys that are stored by now. Asked right before a request is paid for: another run may have stored
   * them since they were looked up.
   */
  stored(keys: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>;
}

/** A file as a source finds it. */
export interface FileState {
  /** `Document.uri` of the document that the file becomes. */
  readonly uri: string;
  /** Size on disk. */
  readonly sizeBytes: number;
  /**
   * When it last changed, in nanoseconds since 1970, as the file system tells. Absent when that was so recent that it could
   * change once more without another time.
   */
  readonly modifiedNs?: string;
  /** Names the settings that it would be read with. */
  readonly readBy: string;
  /** SHA-256 of its bytes; absent until they are read. */
  readonly digest?: string | undefined;
}

/** What became of a file when it was read: a document, or an error. */
export type FileReading =
  | {
      /** Parts that could not be read as they were meant. */
      readonly warnings: readonly string[];
    }
  | {
      /** Why it cannot be read. */
      readonly error: LoadError;
    };

/** The same with the number of chunks that the document has. */
export type RecalledFile =
  | Extract<
      FileReading,
      {
        /** Why it could not be read. */
        error: unknown;
      }
    >
  | {
      /** Parts that could not be read as they were meant. */
      readonly warnings: readonly string[];
      /** Chunks that its document was cut into. */
      readonly chunks: number;
    };

/** Remembers files from run to run, so that a source need not read those that have not changed. */
export interface FileMemory {
  /** Those of the files, by uri, that are as they were when they were last read. */
  recall(files: readonly FileState[]): Promise<ReadonlyMap<string, RecalledFile>>;
  /** Takes note of what a file's bytes were read as. */
  noteRead(file: FileState, reading: FileReading): void;
}

/** What every stage of one run shares. */
export interface RunContext {
  /** Ends the run. Stages pass it on to every call they make. */
  readonly signal: AbortSignal;
  /** When the run should be over, as `performance.now()` counts; stages may do less as it comes near. */
  readonly deadlineAt?: number;
  /** Tells whoever watches the run. Never throws. */
  readonly report: (event: RunEvent) => void;
  /**
   * Documents that lost a part in this run, by `Document.uri`, with the reason. The stage that loses the part says so here,
   * and storing leaves such a document as it was.
   */
  readonly failures: Map<string, Error>;
  /** A document as it is stored, for sources that can ask whether it has changed. Absent: nothing is known. */
  readonly stored?: (uri: string) => Promise<Document | undefined>;
  /** What is known of files from earlier runs. Absent: nothing is. */
  readonly files?: FileMemory;
  /** Budget of all stages that embed. Absent: there is no limit. */
  readonly budget?: Budget;
  /** Keeps vectors that wait to be written. Absent: vectors are written with their documents. */
  readonly paidVectors?: PaidVectors;
  /** Opens spans, where somebody hears of them. */
  readonly tracing?: Tracing;
}

/**
 * Limits that a stage promises for the items it hands on, or demands of those it takes. All are optional, and an absent one
 * is not checked.
 */
export interface Facts {
  /** Maximum length of a text to embed or rerank, in tokens. */
  readonly chunkTokens?: number;
  /** Vector space of the items' vectors. */
  readonly space?: string;
  /** Length of the items' vectors. */
  readonly dimension?: number;
  /** Maximum number of hits that an item carries. */
  readonly hits?: number;
}

export interface StageFacts {
  /** Holds for every item that leaves. A fact that is not stated is handed on as it came. */
  readonly gives?: Facts;
  /** Must hold for every item that comes: at most this many tokens or hits, exactly this space and dimension. */
  readonly takes?: Facts;
}

/** One step of a flow: a stream in, a stream out. */
export interface Stage<In, Out> {
  /** Name in errors, spans and traces. */
  readonly name: string;
  // A property, not a method: method parameters are bivariant and would let wrong orders compile.
  /**
   * Turns one stream into another, holding at most one batch. Errors go through, and the pipeline adds the stage's
   * name.
   */
  readonly run: (source: AsyncIterable<In>, context: RunContext) => AsyncIterable<Out>;
  /** Limits that `pipe` compares with those of the stages before. Default: none. */
  readonly facts?: StageFacts;
}

/**
 * A stage from a generator function.
 *
 * @example
 * ```ts
 * import { type DocumentChunk, stage } from "citewell";
 * const longOnly = stage<DocumentChunk, DocumentChunk>("long-only", async function* (chunks) {
 *   for await (const chunk of chunks) if (chunk.text.length >= 80) yield chunk;
 * });
 * ```
 */
export function stage<In, Out>(name: string, run: Stage<In, Out>["run"], facts?: StageFacts): Stage<In, Out> {
  return facts ? { name, run, facts } : { name, run };
}

/** A stage of one item to one item. */
export function mapStage<In, Out>(
  name: string,
  transform: (item: In, context: RunContext) => Out | Promise<Out>,
  facts?: StageFacts,
): Stage<In, Out> {
  return stage(
    name,
    async function* (source, context) {
      for await (const item of source) yield await transform(item, context);
    },
    facts,
  );
}

export interface RunOptions {
  /** Ends the run; what was paid for is kept. The run throws its reason. */
  readonly signal?: AbortSignal;
  /** Maximum time for the run, in milliseconds. Default: no limit. */
  readonly deadlineMs?: number;
  /**
   * Hears what becomes of each document. Without it, a run in which documents failed ends with a `FailedDocumentsError`,
   * so that none is lost without a word.
   */
  readonly report?: (event: RunEvent) => void;
}

export const runOptions = optionsOf<RunOptions>()({
  signal: abortSignal.optional(),
  deadlineMs: z.number().min(0).optional(),
  report: z.custom<RunOptions["report"]>((value) => typeof value === "function", "must be a function").optional(),
});

/** A context of its own for one run. */
export function createRunContext({ signal, deadlineMs, report }: RunOptions = {}): RunContext {
  return {
    signal: signal ?? new AbortController().signal,
    report: report ?? (() => {}),
    failures: new Map(),
    ...(deadlineMs === undefined ? {} : { deadlineAt: performance.now() + deadlineMs }),
  };
}

/** A run's own signal, which aborts as the caller's does. */
export interface OwnSignal {
  readonly signal: AbortSignal;
  /** Lets go of the caller's signal; with a reason, aborts what still listens to the run's own. */
  readonly end: (reason?: unknown) => void;
}

/**
 * A signal for one run. Every call under way listens to it, and Node warns of a leak from the eleventh listener on; the
 * caller's own signal carries one listener, until the end.
 */
export function ownSignal(given: AbortSignal | undefined): OwnSignal {
  const controller = new AbortController();
  const { signal } = controller;
  setMaxListeners(0, signal);
  const follow = () => controller.abort(given?.reason);
  if (given?.aborted) follow();
  else given?.addEventListener("abort", follow, { once: true });
  return {
    signal,
    end: (reason) => {
      given?.removeEventListener("abort", follow);
      if (reason !== undefined) controller.abort(reason);
    },
  };
}

/** Stages in sequence. Immutable: `pipe` returns a new one. Itself a stage. */
export class Pipeline<In, Out> implements Stage<In, Out> {
  /** The names of its stages in order, with ` > ` between them. */
  readonly name: string;
  /** Runs all stages within a run that is under way; `stream` begins one. */
  readonly run: Stage<In, Out>["run"];
  /** What its stages together give and take. */
  readonly facts: StageFacts;

  private constructor(name: string, run: Stage<In, Out>["run"], facts: StageFacts) {
    this.name = name;
    this.run = run;
    this.facts = facts;
  }

  /** An empty pipeline: what goes in comes out. */
  static from<T>(): Pipeline<T, T> {
    return new Pipeline<T, T>("", (source) => source, {});
  }

  /**
   * Adds a stage. Wrong orders do not compile; limits that types cannot carry are checked here.
   *
   * @throws OptionsError (`facts`) when the stage takes less than the stages before it give.
   */
  pipe<Next>(next: Stage<Out, Next>): Pipeline<In, Next> {
    checkFacts(this.name, this.facts.gives ?? {}, next);
    const before = this.run;
    return new Pipeline<In, Next>(
      this.name === "" ? next.name : `${this.name} > ${next.name}`,
      (source, context) => named(next, before(source, context), context),
      {
        gives: { ...this.facts.gives, ...next.facts?.gives },
        takes: demands(this.facts, next.facts?.takes),
      },
    );
  }

  /**
   * Runs over a source; stops and cleans up when the reader leaves the loop. Where a provider of OpenTelemetry is
   * registered, each stage is a span below the one that the run begins in.
   *
   * @throws FailedDocumentsError at the end, when documents failed and no `report` was given.
   */
  async *stream(source: Source<In>, options: RunOptions = {}): AsyncGenerator<Out> {
    const given = resolve("stream", runOptions, options);
    const own = ownSignal(given.signal);
    try {
      const tracing = await openTracing();
      const context = createRunContext({ ...given, signal: own.signal, report: given.report ?? noteFailure });
      const { failures } = context;
      yield* this.run(toAsync(source), tracing ? { ...context, tracing } : context);
      if (!given.report && failures.size > 0) throw new FailedDocumentsError(failures);

      function noteFailure(event: RunEvent): void {
        if (event.type !== "document" || event.outcome !== "failed" || failures.has(event.uri)) return;
        failures.set(event.uri, asError(event.error ?? "failed without a reason"));
      }
    } finally {
      own.end(new DOMException("The reader left the stream", "AbortError"));
    }
  }
}

async function* toAsync<T>(source: Source<T>): AsyncGenerator<T> {
  yield* source;
}

const failedIn = new WeakSet<object>();

/** Runs a stage so that an error says which stage it came from: the innermost stage, once. Aborts pass as they are. */
async function* named<In, Out>(
  of: Stage<In, Out>,
  source: AsyncIterable<In>,
  context: RunContext,
): AsyncGenerator<Out> {
  try {
    // A nested pipeline opens spans for its stages, not for itself.
    yield* context.tracing && !(of instanceof Pipeline)
      ? traced(of, source, context, context.tracing)
      : of.run(source, context);
  } catch (error) {
    if (error instanceof CitewellError && !failedIn.has(error) && error !== context.signal.reason) {
      failedIn.add(error);
      Object.defineProperty(error, "stage", { value: of.name, enumerable: true, configurable: true });
    }
    throw error;
  }
}

/** Runs a stage in a span that begins with its first item and ends with the last that it hands on. */
async function* traced<In, Out>(
  of: Stage<In, Out>,
  source: AsyncIterable<In>,
  context: RunContext,
  tracing: Tracing,
): AsyncGenerator<Out> {
  const span = tracing.stage(of.name);
  const iterator = of.run(startingOnFirst(source, span), context)[Symbol.asyncIterator]();
  let at: number | undefined;
  let failure: unknown;
  try {
    for (;;) {
      const next = await span.within(() => iterator.next());
      if (next.done) return;
      at = performance.now();
      yield next.value;
    }
  } catch (error) {
    at = undefined;
    if (error !== context.signal.reason) failure = error;
    throw error;
  } finally {
    await span.within(() => iterator.return?.());
    span.end({ ...(at !== undefined && { at }), failure });
  }
}

async function* startingOnFirst<T>(source: AsyncIterable<T>, span: OpenSpan): AsyncGenerator<T> {
  for await (const item of source) {
    span.start();
    yield item;
  }
}

/** Demands of a pipeline on its items: its own, and those of a later stage that nothing before it settled. */
function demands({ gives = {}, takes = {} }: StageFacts, later: Facts = {}): Facts {
  const open = Object.entries(later).filter(([fact]) => gives[fact as keyof Facts] === undefined);
  return {
    ...Object.fromEntries(open),
    ...takes,
    ...stricter("chunkTokens", takes, Object.fromEntries(open)),
    ...stricter("hits", takes, Object.fromEntries(open)),
  };
}

function stricter(fact: "chunkTokens" | "hits", one: Facts, other: Facts): Facts {
  const limits = [one[fact], other[fact]].filter((limit) => limit !== undefined);
  return limits.length === 0 ? {} : { [fact]: Math.min(...limits) };
}

function checkFacts(before: string, given: Facts, next: Stage<never, unknown>): void {
  const taken = next.facts?.takes ?? {};
  const refuse = (problem: string, fix: string): never => {
    throw new OptionsError("facts", `${before} > ${next.name}: ${problem}. ${fix}`);
  };
  if (exceeds(given.chunkTokens, taken.chunkTokens)) {
    refuse(
      `chunks of up to ${given.chunkTokens} tokens meet a limit of ${taken.chunkTokens} tokens`,
      `Set maxTokens of chunk() to ${taken.chunkTokens} or less, or pass the model to it: chunk({ for: embedder })`,
    );
  }
  if (given.space !== undefined && taken.space !== undefined && given.space !== taken.space) {
    refuse(
      `vectors of ${given.space} meet a stage that holds vectors of ${taken.space}`,
      `Use one embedder on both sides, or index again with ${given.space}`,
    );
  }
  if (given.dimension !== undefined && taken.dimension !== undefined && given.dimension !== taken.dimension) {
    refuse(
      `vectors of ${given.dimension} dimensions meet a stage that holds ${taken.dimension}`,
      "Use one embedder on both sides",
    );
  }
  if (exceeds(given.hits, taken.hits)) {
    refuse(
      `up to ${given.hits} hits meet a limit of ${taken.hits}`,
      `Set count of search() or topN of rerank() to ${taken.hits} or less`,
    );
  }
}

function exceeds(given: number | undefined, limit: number | undefined): boolean {
  return given !== undefined && limit !== undefined && given > limit;
}
