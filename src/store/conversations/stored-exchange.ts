import { z } from "zod";
import type { Decision, WaitingAnswer, WaitingCall } from "../../core/approval.js";
import { StoreError } from "../../core/errors.js";
import { isRecord, parsedJson } from "../../core/json.js";
import type { AnswerRemark, Citation, NearestPassages, Turn } from "../../core/types.js";
import type { ExchangeRow } from "./conversation-rows.js";

/** The answer, as far as it was generated. */
export interface StoredAnswer {
  /** The text as it was shown, with citations as `[1]`. */
  readonly text: string;
  /** The citations behind these numbers, in the order of the text. */
  readonly citations: readonly Citation[];
  /** The places of the text that claim something without a citation that holds. Absent where there are none. */
  readonly remarks?: readonly AnswerRemark[];
  /** Passages nearest to the question. Present when it was not answered, and something was found. */
  readonly nearest?: NearestPassages;
  /** The answer as the model is shown it later: without numbers, with the calls of tools. */
  readonly turn: Extract<Turn, { readonly role: "assistant" }>;
  /** True when it was stopped before its end; it is then as long as it had become. */
  readonly stopped: boolean;
}

/** A reader's verdict on an answer. */
export interface AnswerFeedback {
  /** Whether the answer helped. */
  readonly rating: "up" | "down";
  /** The reader's own words, up to 4,000 characters. */
  readonly note?: string;
}

/** The rating of an answer. It goes with the answer: one that is made anew has none. */
export interface StoredFeedback extends AnswerFeedback {
  /** Time of the rating, in milliseconds since 1970. */
  readonly givenAtMs: number;
}

/** A call that waits for a decision, or whose answer does. */
export interface StoredCall extends WaitingCall {
  /** Absent while it is undecided. */
  readonly decision?: Pick<Decision, "approved" | "decidedAtMs"> & {
    /**
     * Whether the result of the call is recorded. An approved call without a result is running, or its process ended and
     * nobody knows whether it was carried out.
     */
    readonly finished: boolean;
  };
}

/** An answer that waits for approval, as far as it came. */
export interface StoredWait extends Omit<StoredAnswer, "stopped"> {
  /** The calls that wait, in the order of the reply, with their decisions so far. */
  readonly calls: readonly StoredCall[];
}

/** An answer that is to be kept until its calls are decided. */
export interface AnswerToResume extends Omit<StoredAnswer, "stopped"> {
  readonly waiting: WaitingAnswer;
}

/** A question of a conversation, with its answer if there is one. */
export interface StoredExchange {
  /** 1 is the first. */
  readonly position: number;
  /** The question as it was asked. */
  readonly question: string;
  /** Time of the question, in milliseconds since 1970. */
  readonly askedAtMs: number;
  /** Absent when the answer failed, waits, its process ended, or it is still being made. */
  readonly answer?: StoredAnswer;
  /** The rating of the answer. Absent while nobody has rated it. */
  readonly feedback?: StoredFeedback;
  /** Present while calls of the answer wait for approval, and until the answer was resumed to its end. */
  readonly waiting?: StoredWait;
}

const Exchange = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  extraContent: z.record(z.string(), z.unknown()).exactOptional(),
  result: z.union([z.object({ content: z.string() }), z.object({ error: z.string() })]),
});
const Shown = z.object({
  text: z.string(),
  citations: z.array(z.custom<Citation>((value) => typeof (value as Citation | null)?.number === "number")),
  remarks: z
    .array(z.object({ start: z.int(), end: z.int(), reason: z.enum(["missing", "near", "uncited"]) }))
    .exactOptional(),
  nearest: z.custom<NearestPassages>((value) => isRecord(value) && Array.isArray(value["hits"])).exactOptional(),
  turn: z.object({ role: z.literal("assistant"), text: z.string(), tools: z.array(Exchange).exactOptional() }),
});
const Feedback = z.object({ rating: z.enum(["up", "down"]), note: z.string().exactOptional(), givenAtMs: z.int() });
const Rated = Shown.extend({ feedback: Feedback.exactOptional() });
const isWaiting = (value: unknown) => isRecord(value) && Array.isArray(value["calls"]) && value["calls"].length > 0;
const Waiting = Shown.extend({ waiting: z.custom<WaitingAnswer>(isWaiting) });

/** @internal */
type StoredRow = Pick<ExchangeRow, "position" | "asked_at" | "question" | "answer" | "stopped" | "waiting">;

/** @param decisions those on the calls that wait in the row, as far as there are any. @internal */
export function exchangeOf(row: StoredRow, path: string, decisions: ReadonlyMap<string, Decision>): StoredExchange {
  const { position, asked_at: askedAtMs, question, stopped } = row;
  const { feedback, ...shown } = row.answer === null ? {} : read(Rated, row.answer, path);
  const answer = "text" in shown && { ...shown, stopped: stopped !== 0 };
  const [[, paused] = []] = waitOf(row, path);
  return {
    position,
    question,
    askedAtMs,
    ...(answer && { answer }),
    ...(feedback && { feedback }),
    ...(paused && { waiting: shownWait(paused, decisions) }),
  };
}

/** The answer that waits in a row, if there is one, with the position of its question. @internal */
export function waitOf({ position, waiting: json }: StoredRow, path: string): [number, AnswerToResume][] {
  return json === null ? [] : [[position, read(Waiting, json, path)]];
}

function shownWait(
  { waiting: { calls }, ...shown }: AnswerToResume,
  decisions: ReadonlyMap<string, Decision>,
): StoredWait {
  return {
    ...shown,
    calls: calls.map((call) => {
      const decision = decisions.get(call.approvalId);
      if (!decision) return call;
      const { approved, decidedAtMs, outcome } = decision;
      return { ...call, decision: { approved, decidedAtMs, finished: outcome !== undefined } };
    }),
  };
}

function read<Value>(schema: z.ZodType<Value>, json: string, path: string): Value {
  const parsed = schema.safeParse(parsedJson(json));
  if (parsed.success) return parsed.data;
  const { error } = parsed;
  throw new StoreError("damaged", `${path} holds an invalid answer: ${error.message}`, { path, cause: error });
}
