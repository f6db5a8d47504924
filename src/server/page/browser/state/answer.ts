import type {
  WireCall,
  WireCitation,
  WireConsidered,
  WireEvent,
  WireExchange,
  WireFailure,
  WireFeedback,
  WireNearest,
  WireRemark,
} from "../../../api/wire.js";

/** A tool that the model called, with its result. */
export interface ToolStep {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: "running" | "done" | "failed" | "refused";
  readonly output?: unknown;
}

/** An answer, complete or under way. */
export interface Answer {
  /** `waiting`: for the approval of calls. `missing`: the question has none, and none is being made. */
  readonly phase: "searching" | "writing" | "waiting" | "whole" | "stopped" | "failed" | "missing";
  /** Markdown with marks such as `[1]`. */
  readonly text: string;
  readonly citations: readonly WireCitation[];
  /** Number of passages that the model is reading, until `considered` is known. */
  readonly passages: number;
  /** The question as it was searched for, where words of it were corrected. */
  readonly searchedFor?: string | undefined;
  readonly considered: readonly WireConsidered[];
  /** Whether `considered` is of a later search: the server does not keep what was looked at. */
  readonly isLookedAgain?: boolean;
  readonly reasoning: string;
  readonly steps: readonly ToolStep[];
  readonly waiting: readonly WireCall[];
  readonly warnings: readonly string[];
  /** Places of the text that claim something without a citation that holds. */
  readonly remarks: readonly WireRemark[];
  /** Nearest matches of a question that was not answered. */
  readonly nearest?: WireNearest | undefined;
  readonly answered: boolean;
  /** The reader's rating. */
  readonly feedback?: Pick<WireFeedback, "rating" | "note"> | undefined;
  readonly failure?: WireFailure | undefined;
}

const nothingYet: Answer = {
  phase: "searching",
  text: "",
  citations: [],
  passages: 0,
  considered: [],
  reasoning: "",
  steps: [],
  waiting: [],
  warnings: [],
  remarks: [],
  answered: true,
};

/** The answer of a question that has just been asked. */
export function beginAnswer(): Answer {
  return nothingYet;
}

export function isRunning({ phase }: Answer): boolean {
  return phase === "searching" || phase === "writing";
}

/** An answer from a conversation as the server keeps it. */
export function keptAnswer({ answer, feedback, waiting }: WireExchange): Answer {
  if (waiting) {
    return {
      ...nothingYet,
      phase: "waiting",
      text: waiting.text,
      citations: waiting.citations,
      waiting: waiting.calls,
    };
  }
  if (!answer) return { ...nothingYet, phase: "missing" };
  return {
    ...nothingYet,
    phase: answer.stopped ? "stopped" : "whole",
    text: answer.text,
    citations: answer.citations,
    remarks: answer.remarks ?? [],
    nearest: answer.nearest,
    answered: answer.nearest === undefined,
    feedback,
  };
}

/** An answer that continues, because its waiting calls have been decided. */
export function resumedAnswer(answer: Answer): Answer {
  const known = new Set(answer.steps.map(({ id }) => id));
  const calls = answer.waiting.filter(({ id }) => !known.has(id));
  const steps = calls.map(({ id, name, input }): ToolStep => ({ id, name, input, state: "running" }));
  return { ...answer, phase: "searching", waiting: [], steps: [...answer.steps, ...steps], failure: undefined };
}

export function failedAnswer(answer: Answer, failure: WireFailure): Answer {
  return { ...answer, phase: "failed", failure };
}

/** The answer after one more event of its stream. */
export function applyEvent(answer: Answer, event: WireEvent): Answer {
  switch (event.type) {
    case "conversation":
    case "searching":
      return answer;
    case "retrieved":
      return { ...answer, passages: event.passages.length, searchedFor: event.searchedFor };
    case "reasoning-delta":
      return { ...answer, reasoning: answer.reasoning + event.text };
    case "text-delta":
      return { ...answer, phase: "writing", text: answer.text + event.text };
    case "citation":
      return { ...answer, citations: [...answer.citations, event.citation] };
    case "tool-call": {
      const { id, name, input } = event;
      return { ...answer, steps: [...answer.steps, { id, name, input, state: "running" }] };
    }
    case "approval":
      return event.approved ? answer : withStep(answer, event.id, { state: "refused" });
    case "approval-needed":
      return { ...answer, waiting: [...answer.waiting, event.call] };
    case "tool-result":
      return withStep(answer, event.id, {
        state: event.error === undefined ? "done" : "failed",
        output: event.error ?? event.output,
      });
    case "warning":
      // The page says this one itself, in its own language.
      return event.about === "claims" ? answer : { ...answer, warnings: [...answer.warnings, event.message] };
    case "finish": {
      const { text, citations, considered, remarks, nearest, waiting, answered } = event;
      return {
        ...answer,
        phase: waiting.length > 0 ? "waiting" : "whole",
        text,
        citations,
        considered,
        remarks,
        nearest,
        waiting,
        answered,
      };
    }
    case "stopped":
      return { ...answer, phase: "stopped", text: event.text };
    case "error":
      return failedAnswer(answer, event.error);
    default:
      // A newer server may send events that this page does not know.
      return answer;
  }
}

/** A refused call stays refused, whatever is reported as its result. */
function withStep(answer: Answer, id: string, change: Partial<ToolStep>): Answer {
  const steps = answer.steps.map((step) =>
    step.id === id && step.state !== "refused" ? { ...step, ...change } : step,
  );
  return { ...answer, steps };
}
