import { z } from "zod";
import { asError, CitewellError, FailedDocumentsError, OptionsError, withErrorInJson } from "./errors.js";
import { shown } from "./check-port.js";
import { isRecord } from "./json.js";
import { observerOption, optionsOf, resolve } from "./options.js";
import { abortSignal, ownSignal } from "./call-options.js";
import { checkFacts, demands, type Leaving, type StageFacts, type StageFor } from "./stage-facts.js";
import { checkItems, type Source } from "./stream.js";
import { openTracing } from "./telemetry.js";
import type { OpenSpan, Tracing } from "./tracing.js";

/** An event of a run, for its observers. */
export type RunEvent =
  /** `count` more units of `what` are done: `documents`, `chunks`, `tokens`, `requests`. */
  | {
      readonly type: "progress";
      /** Unit that is counted: `documents`, `chunks`, `tokens`, `requests`, `files-found`. */
      readonly what: string;
      /** How many more are done, not how many in all. */
      readonly count: number;
    }
  /** Outcome of one document. */
  | {
      readonly type: "document";
      /** Address of the document. */
      readonly uri: string;
      /** Outcome of the document. Each document of a run has exactly one. */
      readonly outcome: "added" | "updated" | "unchanged" | "deleted" | "failed";
      /** Chunks that the document has now. */
      readonly chunks: number;
      /** Chunks that went with its earlier version. Default: 0. */
      readonly deletedChunks?: number;
      /** Reason of a failed document. */
      readonly error?: Error;
      /** The document failed in an earlier run, and was not read again since its file has not changed. */
      readonly isRecalled?: boolean;
    }
  /** Reading of a file began or ended; its outcome comes in another event. */
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
  /** Text of a file that is not in its document on purpose, such as the captions of an article. */
  | {
      readonly type: "left-out";
      /** Address of the document. */
      readonly uri: string;
      /** Kind of text, in the plural. */
      readonly what: string;
      /** Number of places that it was left out at. */
      readonly count: number;
      /** Beginning of the first, up to 120 characters. */
      readonly example: string;
    }
  | {
      readonly type: "warning";
      /** One line for people. */
      readonly message: string;
    };

/** State that all stages of one run share. */
export interface RunContext {
  /** Aborts the run. Stages pass it on to every call they make. */
  readonly signal: AbortSignal;
  /** When the run should be over, as `performance.now()` counts; stages may do less as it comes near. */
  readonly deadlineAt?: number;
  /** Reports an event to the run's observers. Never throws. */
  readonly report: (event: RunEvent) => void;
  /**
   * Documents that lost a part in this run, by `Document.uri`, with the reason. The stage that loses the part says so here,
   * and storing leaves such a document as it was.
   */
  readonly failures: Map<string, Error>;
  /** Opens spans, if tracing is enabled. */
  readonly tracing?: Tracing;
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
 * Makes a stage from a generator function, which may drop items, add some or regroup them.
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

/**
 * Makes a stage from a function that turns one item into one item.
 *
 * @example
 * ```ts
 * import { mapStage, type Question } from "citewell";
 * const lowercase = mapStage("lowercase", (asked: Question) => ({ ...asked, question: asked.question.toLowerCase() }));
 * ```
 */
export function mapStage<In, Out>(
  name: string,
  transform: (item: In, context: RunContext) => Out | Promise<Out>,
  facts?: StageFacts,
): Stage<In, Out> {
  if (typeof transform !== "function") {
    throw new OptionsError("options", `transform of ${name} must be a function (got ${shown(transform)})`, {
      call: "mapStage",
      option: "transform",
    });
  }
  return stage(
    name,
    async function* (source, context) {
      for await (const item of source) yield await transform(item, context);
    },
    facts,
  );
}

export interface RunOptions {
  /** Aborts the run, which then throws the signal's `reason`; results that were paid for are kept. */
  readonly signal?: AbortSignal;
  /** Maximum time for the run, in milliseconds, 0 or more. Default: no limit. */
  readonly deadlineMs?: number;
  /**
   * Receives the outcome of each document. Without it, a run in which documents failed ends with a
   * `FailedDocumentsError`, so that no failure goes unnoticed. An error that it throws or rejects with becomes a
   * warning of the process.
   */
  readonly report?: (event: RunEvent) => void;
}

export const runOptions = optionsOf<RunOptions>()({
  signal: abortSignal.optional(),
  deadlineMs: z.number().min(0).optional(),
  report: observerOption<NonNullable<RunOptions["report"]>>("report").optional(),
});

/** Creates the context of one run. */
export function createRunContext({ signal, deadlineMs, report }: RunOptions = {}): RunContext {
  return {
    signal: signal ?? new AbortController().signal,
    report: (event) => {
      if (!report) return;
      report(event.type === "document" && event.error ? withErrorInJson({ ...event, error: event.error }) : event);
    },
    failures: new Map(),
    ...(deadlineMs === undefined ? {} : { deadlineAt: performance.now() + deadlineMs }),
  };
}

/** Stages in sequence. Immutable: `pipe` returns a new one. Itself a stage. */
export class Pipeline<In, Out> implements Stage<In, Out> {
  /** The names of its stages in order, with ` > ` between them. */
  readonly name: string;
  /** Runs all stages within a run that is under way; `stream` begins one. */
  readonly run: Stage<In, Out>["run"];
  /** Combined facts of its stages. */
  readonly facts: StageFacts;

  /** Its last stage, whose errors `stream` names itself. @internal */
  readonly last: LastStage<In, Out> | undefined;

  private constructor(name: string, run: Stage<In, Out>["run"], facts: StageFacts, last?: LastStage<In, Out>) {
    this.name = name;
    this.run = run;
    this.facts = facts;
    this.last = last;
  }

  /** Starts a pipeline without stages: items leave it as they came in. */
  static from<T>(): Pipeline<T, T> {
    return new Pipeline<T, T>("", (source) => source, {});
  }

  /**
   * Adds a stage. A wrong order does not compile, and the compiler's message names both stages and the one that is missing
   * between them; limits that types cannot carry are checked here.
   *
   * @throws OptionsError (`facts`) when the stage takes less than the stages before it give; (`options`) for a value
   *   that is not a stage.
   */
  pipe<Taken, Next>(
    this: Leaving<Taken | {} | null | undefined, RunContext>,
    next: StageFor<Out, Taken, Stage<Taken, Next>>,
  ): Pipeline<In, Next>;
  // Within, the types are the plain ones: what comes out of the stages before goes into this one.
  pipe<Next>(this: Pipeline<In, Out>, next: Stage<Out, Next>): Pipeline<In, Next> {
    checkStage(next);
    checkFacts(this.name, this.facts.gives ?? {}, next.name, next.facts?.takes ?? {});
    const before = this.run;
    const last: LastStage<In, Next> = {
      name: next.name,
      open: (source, context) => opened(next, before(source, context), context),
    };
    return new Pipeline<In, Next>(
      this.name === "" ? next.name : `${this.name} > ${next.name}`,
      (source, context) => named(last, source, context),
      {
        gives: { ...this.facts.gives, ...next.facts?.gives },
        takes: demands(this.facts, next.facts?.takes),
      },
      last,
    );
  }

  /**
   * Runs over a source. Leaving the loop, by `break`, `return` or an error, aborts all calls in flight and waits for stages to
   * clean up. An aborted `signal` does the same and makes the loop throw the signal's own `reason`. Where a provider of
   * OpenTelemetry is registered, each stage is a span below the one that the run begins in.
   *
   * @throws FailedDocumentsError at the end, when documents failed and no `report` was given.
   */
  async *stream(source: Source<In>, options: RunOptions = {}): AsyncGenerator<Out> {
    const given = resolve("stream", runOptions, options);
    checkItems("stream", "source", source);
    const own = ownSignal(given.signal);
    try {
      const tracing = await openTracing();
      const context = createRunContext({ ...given, signal: own.signal, report: given.report ?? noteFailure });
      const { failures } = context;
      const run = tracing ? { ...context, tracing } : context;
      try {
        yield* (this.last?.open ?? this.run)(toAsync(source), run);
      } catch (thrown) {
        throw this.last ? errorOf(this.last.name, thrown, run) : thrown;
      }
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

/** A stage with those before it. */
interface LastStage<In, Out> {
  readonly name: string;
  readonly open: Stage<In, Out>["run"];
}

async function* named<In, Out>(
  { name, open }: LastStage<In, Out>,
  source: AsyncIterable<In>,
  context: RunContext,
): AsyncGenerator<Out> {
  try {
    yield* open(source, context);
  } catch (thrown) {
    throw errorOf(name, thrown, context);
  }
}

/** The error of a stage, which says where it came from: the innermost stage, once. Aborts pass as they are. */
function errorOf(stageName: string, thrown: unknown, { signal: { aborted, reason } }: RunContext): unknown {
  if (aborted && thrown === reason) return thrown;
  const error = thrown instanceof Error ? thrown : noError(stageName, thrown);
  if (error instanceof CitewellError && !failedIn.has(error) && error !== reason) {
    failedIn.add(error);
    Object.defineProperty(error, "stage", { value: stageName, enumerable: true, configurable: true });
  }
  return error;
}

/** A nested pipeline opens spans for its stages, not for itself. */
function opened<In, Out>(inner: Stage<In, Out>, source: AsyncIterable<In>, context: RunContext): AsyncIterable<Out> {
  return context.tracing && !(inner instanceof Pipeline)
    ? traced(inner, source, context, context.tracing)
    : runOf(inner, source, context);
}

/** Ports of the caller's may throw anything, even undefined, which nobody could tell from success. */
function noError(stageName: string, thrown: unknown): Error {
  return new Error(`${stageName} failed, and threw what is no Error: ${shown(thrown)}`, { cause: thrown });
}

function runOf<In, Out>(inner: Stage<In, Out>, source: AsyncIterable<In>, context: RunContext): AsyncIterable<Out> {
  const items: unknown = inner.run(source, context);
  if (typeof items === "object" && items !== null && Symbol.asyncIterator in items) return items as AsyncIterable<Out>;
  const message = `the stage ${inner.name} must return a stream from run, such as an async generator does (got ${shown(items)})`;
  throw new OptionsError("options", message, { call: "pipe" });
}

/** Runs a stage in a span that begins with its first item and ends with the last that it hands on. */
async function* traced<In, Out>(
  inner: Stage<In, Out>,
  source: AsyncIterable<In>,
  context: RunContext,
  tracing: Tracing,
): AsyncGenerator<Out> {
  const span = tracing.stage(inner.name);
  const iterator = runOf(inner, startingOnFirst(source, span), context)[Symbol.asyncIterator]();
  let lastItemMs: number | undefined;
  let failure: unknown;
  try {
    for (;;) {
      const next = await span.within(() => iterator.next());
      if (next.done) return;
      lastItemMs = performance.now();
      yield next.value;
    }
  } catch (error) {
    lastItemMs = undefined;
    if (error !== context.signal.reason) failure = error;
    throw error;
  } finally {
    await span.within(() => iterator.return?.());
    span.end({ ...(lastItemMs !== undefined && { endedAt: lastItemMs }), failure });
  }
}

async function* startingOnFirst<T>(source: AsyncIterable<T>, span: OpenSpan): AsyncGenerator<T> {
  for await (const item of source) {
    span.start();
    yield item;
  }
}

function checkStage(given: unknown): void {
  if (isRecord(given) && typeof given["name"] === "string" && typeof given["run"] === "function") return;
  const fix = typeof given === "function" ? ". Call it, or make a stage of it: stage(name, run)" : "";
  const message = `must be a stage: { name, run }, such as chunk() or mapStage(name, transform) (got ${shown(given)})${fix}`;
  throw new OptionsError("options", message, { call: "pipe" });
}
