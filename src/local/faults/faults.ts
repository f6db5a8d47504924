import { z } from "zod";
import { operations, type OperationName } from "../../contract/operations.js";
import { resolve } from "../../core/options.js";
import { seededRandom } from "../../core/random.js";
import { failureShapes } from "../failure/failure-shapes.js";

const OperationNames = z.enum(Object.keys(operations) as OperationName[]);
const count = z.int().min(0).max(1_000_000);
const milliseconds = z.number().min(0).max(3_600_000);
const probability = z.number().min(0).max(1);
const Shape = z.enum(failureShapes);

/** An answer given in the place of the real one. */
const ScriptedAnswer = z.strictObject({
  /** Only to this operation. Default: to any. */
  operation: OperationNames.optional(),
  /** How many requests get it. 1 to 1,000,000, default 1. */
  times: z.int().min(1).max(1_000_000).default(1),
  /** How likely a request is to get it rather than what stands next in line. Above 0 to 1, default 1: every one is. */
  probability: probability.gt(0).default(1),
  /** 200 to 599, default 500. With 200 the body is still that of an error. */
  status: z.int().min(200).max(599).default(500),
  /** Default: the operation's own shape of errors. */
  shape: Shape.optional(),
  /** The error's number in the body. Default: the one that belongs to the status. */
  code: z.union([z.int(), z.string()]).optional(),
  /** Default: "Injected fault". */
  message: z.string().default("Injected fault"),
  /** Sent as `retry-after`. Default: none is sent, also not with 429. */
  retryAfterSeconds: z.number().min(0).optional(),
  headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().regex(/^[\x20-\x7e]*$/)).default({}),
  /** A body in the place of the error: any JSON value, or with `text` any text. */
  json: z.json().optional(),
  text: z.string().optional(),
  /**
   * Closes the connection: before the request was read, after it was carried out, or within the real answer, of which
   * half is sent.
   */
  disconnect: z.enum(["before", "after", "within"]).optional(),
  /** Waits this long first. 0 to 3,600,000, default 0. */
  delayMs: milliseconds.default(0),
});

const StreamFaults = z.strictObject({
  /** Closes the connection after this many events, with no finish and no `[DONE]`. Default: never. */
  cutAfterEvents: count.optional(),
  /** Leaves out `[DONE]`. Default: false. */
  omitDone: z.boolean().default(false),
  /** Sends `[DONE]` twice. Default: false. */
  repeatDone: z.boolean().default(false),
  /** Falls silent for `stallMs` after this many events. Default: never. */
  stallAfterEvents: count.optional(),
  /** 0 to 3,600,000, default 60,000. */
  stallMs: milliseconds.default(60_000),
  /** Bytes in one write, so that characters and lines come apart. 1 or more; default: whole events. */
  splitBytes: z.int().min(1).optional(),
  /** How lines end. Default: `\n`. */
  lineEnd: z.enum(["\n", "\r\n"]).default("\n"),
  /** Sends a comment before every event. Default: false. */
  comments: z.boolean().default(false),
  /** Ends the stream with an error after this many events. Default: never. */
  errorAfterEvents: count.optional(),
  /** How that error is written: `event` names it on a line of its own. Default: `nested`. */
  errorShape: z.enum(["nested", "object", "flat", "event"]).default("nested"),
  /** Which chunks carry the usage. Default: `last`, the last that has choices. */
  usage: z.enum(["last", "every", "final-empty", "none"]).default("last"),
  /** How id and name look in later deltas of a tool call. Default: `missing`. */
  toolCallFields: z.enum(["missing", "null", "empty"]).default("missing"),
});

export const FaultOptions = z.strictObject({
  /** Decides all that is left to chance: the same requests in the same order meet the same faults. Default: 1. */
  seed: z.int().default(1),
  /** Answers in the place of the real ones, in this order. Default: none. */
  next: z.array(ScriptedAnswer).max(1000).default([]),
  /** Shape of errors. Default: `flat`, and `nested` for the operations of video tasks. */
  errorShapes: z.partialRecord(OperationNames, Shape).default({}),
  /** Wait before the operation is carried out, in milliseconds of the wall clock. Default: none. */
  latencyMs: z.partialRecord(OperationNames, milliseconds).default({}),
  /** Empty lines before a whole reply, as busy services send them. 0 to 1,000, default 0. */
  emptyLines: count.max(1000).default(0),
  stream: StreamFaults.prefault({}),
  rerank: z
    .strictObject({
      /**
       * `sample` and `described`: as the contract's sample and its prose have it; `meta`: token counts within `meta`,
       * and `document: null` where none was asked for; `both`: all names at once. Default: `sample`.
       */
      naming: z.enum(["sample", "described", "meta", "both"]).default("sample"),
    })
    .prefault({}),
  embeddings: z
    .strictObject({
      /** Sends the vectors in another order than the texts; `index` still tells. Default: false. */
      shuffle: z.boolean().default(false),
      /** Answers with numbers though base64 was asked for. Default: false. */
      alwaysFloat: z.boolean().default(false),
      /** Leaves out this many vectors at the end. 0 or more, default 0. */
      missingVectors: count.default(0),
      /** Leaves out this many numbers at the end of every vector. 0 or more, default 0. */
      missingNumbers: count.default(0),
      /** Most texts in one request, in the place of the service's own. Default: none. */
      maxBatchTexts: z.int().min(1).optional(),
    })
    .prefault({}),
  video: z
    .strictObject({
      /** How tasks end that are created from now on; `stuck` ones run until they expire. Default: `succeeded`. */
      outcome: z.enum(["succeeded", "failed", "stuck"]).default("succeeded"),
      /** Error of a task that failed. */
      errorCode: z.string().default("OutputVideoSensitiveContentDetected"),
      errorMessage: z
        .string()
        .default("The request failed because the output video may contain sensitive information."),
      /**
       * The fault of callbacks. `reordered` ones are held back until the task has ended, and then sent one after the
       * other in an order that the seed draws. Default: `sent`.
       */
      callbacks: z.enum(["sent", "lost", "duplicated", "reordered"]).default("sent"),
      /** Probability of it for each callback, or with `reordered` for each task. 0 to 1, default 1. */
      callbackProbability: probability.default(1),
      /** Wait before every callback, on the wall clock. 0 to 3,600,000, default 0. */
      callbackDelayMs: milliseconds.default(0),
    })
    .prefault({}),
});
export type FaultOptions = z.input<typeof FaultOptions>;
export type FaultSettings = z.output<typeof FaultOptions>;
export type ScriptedAnswer = z.output<typeof ScriptedAnswer>;

/** Faults that may be set while the service runs. One belongs to one service. */
export class Faults {
  #settings: FaultSettings;
  #random = seededRandom(1);
  /** Scripted answers with what is left of their times, in order. */
  #left: { readonly answer: ScriptedAnswer; times: number }[] = [];

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
    this.#settings = resolve("faults", FaultOptions, options);
    this.#random = seededRandom(this.#settings.seed);
    this.#left = this.#settings.next.map((answer) => ({ answer, times: answer.times }));
    return this.#settings;
  }

  /** The scripted answer to the request that has come in for an operation, if there is one; uses it up once. */
  take(operation: OperationName): ScriptedAnswer | undefined {
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
