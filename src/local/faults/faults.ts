import { z } from "zod";
import { operations, type OperationName } from "../../contract/operations.js";
import { listOption, optionsOf, resolve } from "../../core/options.js";
import type { Json } from "../../core/types.js";
import { seededRandom } from "../../core/random.js";
import { type FailureShape, failureShapes } from "../failure/failure-shapes.js";

const OperationNames = z.enum(Object.keys(operations) as OperationName[]);
const count = z.int().min(0).max(1_000_000);
const milliseconds = z.number().min(0).max(3_600_000);
const probability = z.number().min(0).max(1);
const Shape = z.enum(failureShapes);
const JsonValue: z.ZodType<Json, Json> = z.json();

/** An answer given in the place of the real one. */
interface ScriptedAnswer {
  /** Operation whose requests get this answer. Default: all. */
  readonly operation?: OperationName;
  /** Number of requests that get it. 1 to 1,000,000, default 1. */
  readonly times?: number;
  /** Probability that a request gets it rather than the next in line. Above 0 to 1, default 1. */
  readonly probability?: number;
  /** Status of the answer. 200 to 599, default 500. With 200 the body is still that of an error. */
  readonly status?: number;
  /** Shape of the error. Default: the operation's own. */
  readonly shape?: FailureShape;
  /** The error's number in the body. Default: the one that belongs to the status. */
  readonly code?: string | number;
  /** The error's message. Default: "Injected fault". */
  readonly message?: string;
  /** Sent as `retry-after`, 0 or more. Default: none is sent, also not with 429. */
  readonly retryAfterSeconds?: number;
  /** Headers of the answer, by name. Default: none but those of any answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A body of any JSON value in the place of the error. Default: the error. */
  readonly json?: Json;
  /** A body of any text in the place of the error. Default: the error. */
  readonly text?: string;
  /**
   * Closes the connection: before the request was read, after it was carried out, or within the real answer, of which
   * half is sent. Default: the connection stays.
   */
  readonly disconnect?: "before" | "after" | "within";
  /** Waits this long first, in milliseconds. 0 to 3,600,000, default 0. */
  readonly delayMs?: number;
}

/** @internal */
const scriptedAnswer = optionsOf<ScriptedAnswer>()({
  operation: OperationNames.optional(),
  times: z.int().min(1).max(1_000_000).default(1),
  probability: probability.gt(0).default(1),
  status: z.int().min(200).max(599).default(500),
  shape: Shape.optional(),
  code: z.union([z.int(), z.string()]).optional(),
  message: z.string().default("Injected fault"),
  retryAfterSeconds: z.number().min(0).optional(),
  headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().regex(/^[\x20-\x7e]*$/)).default({}),
  json: JsonValue.optional(),
  text: z.string().optional(),
  disconnect: z.enum(["before", "after", "within"]).optional(),
  delayMs: milliseconds.default(0),
});

interface StreamFaults {
  /** Closes the connection after this many events, with no finish and no `[DONE]`. Default: never. */
  readonly cutAfterEvents?: number;
  /** Leaves out `[DONE]`. Default: false. */
  readonly omitDone?: boolean;
  /** Sends `[DONE]` twice. Default: false. */
  readonly repeatDone?: boolean;
  /** Falls silent for `stallMs` after this many events. Default: never. */
  readonly stallAfterEvents?: number;
  /** Duration of a stall, in milliseconds. 0 to 3,600,000, default 60,000. */
  readonly stallMs?: number;
  /** Bytes in one write, so that characters and lines come apart. 1 or more; default: whole events. */
  readonly splitBytes?: number;
  /** Line ending. Default: `\n`. */
  readonly lineEnd?: "\n" | "\r\n";
  /** Sends a comment before every event. Default: false. */
  readonly comments?: boolean;
  /** Ends the stream with an error after this many events. Default: never. */
  readonly errorAfterEvents?: number;
  /** Format of that error: `event` names it on a line of its own. Default: `nested`. */
  readonly errorShape?: "nested" | "object" | "flat" | "event";
  /** Chunks that carry the usage. Default: `last`, the last that has choices. */
  readonly usage?: "last" | "every" | "final-empty" | "none";
  /** Form of id and name in later deltas of a tool call. Default: `missing`. */
  readonly toolCallFields?: "missing" | "null" | "empty";
}

const streamFaults = optionsOf<StreamFaults>()({
  cutAfterEvents: count.optional(),
  omitDone: z.boolean().default(false),
  repeatDone: z.boolean().default(false),
  stallAfterEvents: count.optional(),
  stallMs: milliseconds.default(60_000),
  splitBytes: z.int().min(1).optional(),
  lineEnd: z.enum(["\n", "\r\n"]).default("\n"),
  comments: z.boolean().default(false),
  errorAfterEvents: count.optional(),
  errorShape: z.enum(["nested", "object", "flat", "event"]).default("nested"),
  usage: z.enum(["last", "every", "final-empty", "none"]).default("last"),
  toolCallFields: z.enum(["missing", "null", "empty"]).default("missing"),
});

export interface FaultOptions {
  /** Decides all that is left to chance: the same requests in the same order meet the same faults. Default: 1. */
  readonly seed?: number;
  /** Answers in the place of the real ones, in this order. Default: none. */
  readonly next?: readonly ScriptedAnswer[];
  /**
   * Shape of errors by operation. Default: `flat-with-error`, `nested` for the operations of video tasks, and `openai` at the
   * paths of neighbours.
   */
  readonly errorShapes?: Readonly<Partial<Record<OperationName, FailureShape>>>;
  /** Wait before the operation is carried out, in milliseconds of the wall clock, 0 to 3,600,000. Default: none. */
  readonly latencyMs?: Readonly<Partial<Record<OperationName, number>>>;
  /** Empty lines before a whole reply, as busy services send them. 0 to 1,000, default 0. */
  readonly emptyLines?: number;
  /** Faults of streams. Default: none. */
  readonly stream?: StreamFaults;
  /** Faults of reranking. Default: none. */
  readonly rerank?: {
    /**
     * `sample` and `described`: as the contract's sample and its prose have it; `meta`: token counts within `meta`,
     * and `document: null` where none was asked for; `both`: all names at once. Default: `sample`.
     */
    readonly naming?: "sample" | "described" | "meta" | "both";
  };
  /** Faults of embeddings. Default: none. */
  readonly embeddings?: {
    /** Sends the vectors in another order than the texts; `index` still tells. Default: false. */
    readonly shuffle?: boolean;
    /** Answers with numbers though base64 was asked for. Default: false. */
    readonly alwaysFloat?: boolean;
    /** Leaves out this many vectors at the end. 0 or more, default 0. */
    readonly missingVectors?: number;
    /** Leaves out this many numbers at the end of every vector. 0 or more, default 0. */
    readonly missingNumbers?: number;
    /** Maximum number of texts in one request, 1 or more, in the place of the service's own. Default: none. */
    readonly maxBatchTexts?: number;
  };
  /** Faults of video tasks. Default: none. */
  readonly video?: {
    /** Outcome of tasks that are created from now on; `stuck` ones run until they expire. Default: `succeeded`. */
    readonly outcome?: "succeeded" | "failed" | "stuck";
    /** Error code of a task that failed. Default: `OutputVideoSensitiveContentDetected`. */
    readonly errorCode?: string;
    /** Error message of a task that failed. Default: that the video may contain sensitive information. */
    readonly errorMessage?: string;
    /**
     * The fault of callbacks. `reordered` ones are held back until the task has ended, and then sent one after the
     * other in an order that the seed draws. Default: `sent`.
     */
    readonly callbacks?: "sent" | "lost" | "duplicated" | "reordered";
    /** Probability of it for each callback, or with `reordered` for each task. 0 to 1, default 1. */
    readonly callbackProbability?: number;
    /** Wait before every callback, in milliseconds of the wall clock. 0 to 3,600,000, default 0. */
    readonly callbackDelayMs?: number;
  };
}

/** @internal */
export const faultOptions = optionsOf<FaultOptions>()({
  seed: z.int().default(1),
  next: listOption(z.array(scriptedAnswer).max(1000)).default([]),
  errorShapes: z.partialRecord(OperationNames, Shape).default({}),
  latencyMs: z.partialRecord(OperationNames, milliseconds).default({}),
  emptyLines: count.max(1000).default(0),
  stream: streamFaults.prefault({}),
  rerank: z
    .strictObject({
      naming: z.enum(["sample", "described", "meta", "both"]).default("sample"),
    })
    .prefault({}),
  embeddings: z
    .strictObject({
      shuffle: z.boolean().default(false),
      alwaysFloat: z.boolean().default(false),
      missingVectors: count.default(0),
      missingNumbers: count.default(0),
      maxBatchTexts: z.int().min(1).optional(),
    })
    .prefault({}),
  video: z
    .strictObject({
      outcome: z.enum(["succeeded", "failed", "stuck"]).default("succeeded"),
      errorCode: z.string().default("OutputVideoSensitiveContentDetected"),
      errorMessage: z
        .string()
        .default("The request failed because the output video may contain sensitive information."),
      callbacks: z.enum(["sent", "lost", "duplicated", "reordered"]).default("sent"),
      callbackProbability: probability.default(1),
      callbackDelayMs: milliseconds.default(0),
    })
    .prefault({}),
});
/** @internal */
export type FaultSettings = z.output<typeof faultOptions>;
/** @internal */
export type ScriptedAnswerSettings = z.output<typeof scriptedAnswer>;

/** Faults that may be set while the service runs. One belongs to one service. @internal */
export class Faults {
  #settings: FaultSettings;
  #random = seededRandom(1);
  /** Scripted answers with what is left of their times, in order. */
  #left: { readonly answer: ScriptedAnswerSettings; times: number }[] = [];

  /** @throws {OptionsError} when an option is unknown or out of range. */
  constructor(options: FaultOptions) {
    this.#settings = this.replace(options);
  }

  get settings(): FaultSettings {
    return this.#settings;
  }

  /** The next number that the seed draws, from 0 to below 1. */
  random(): number {
    return this.#random();
  }

  /** The settings with the scripted answers that are still to come. */
  remaining(): FaultSettings {
    return { ...this.#settings, next: this.#left.map(({ answer, times }) => ({ ...answer, times })) };
  }

  replace(options: FaultOptions): FaultSettings {
    this.#settings = resolve("faults", faultOptions, options);
    this.#random = seededRandom(this.#settings.seed);
    this.#left = this.#settings.next.map((answer) => ({ answer, times: answer.times }));
    return this.#settings;
  }

  /** The scripted answer to the request that has come in for an operation, if there is one; uses it up once. */
  take(operation: OperationName): ScriptedAnswerSettings | undefined {
    const found = this.#left.find(
      ({ answer }) =>
        (answer.operation === undefined || answer.operation === operation) &&
        (answer.probability === 1 || this.#random() < answer.probability),
    );
    if (found === undefined) return undefined;
    found.times--;
    if (found.times === 0) this.#left.splice(this.#left.indexOf(found), 1);
    return found.answer;
  }
}
