import { z } from "zod";
import type { WaitingAnswer, WaitingCall } from "../../core/approval.js";
import { OptionsError } from "../../core/errors.js";
import { isRecord, sortedJson } from "../../core/json.js";
import type { Retrieved } from "../../core/types.js";
import type { ToolRound } from "../../text/prompt/tool-messages.js";
import type { DraftState } from "./answer-draft.js";
import type { SourcesState } from "./answer-sources.js";
import type { ToolOutcome } from "./tools/run-tool.js";

/** An answer that waits for approvals: everything that another process needs to continue it. */
export interface PausedAnswer {
  readonly retrieved: Retrieved;
  readonly sources: SourcesState;
  readonly draft: DraftState;
  /** Rounds that are over, as the model reads them. */
  readonly rounds: readonly ToolRound[];
  /** The round that waits: the model's text and reasoning before its calls, and the outcomes of these calls. */
  readonly round: { readonly text: string; readonly reasoning: string; readonly outcomes: readonly ToolOutcome[] };
}

/** The calls that were waiting, by `approvalId`. */
export function waitingIds(paused: PausedAnswer): readonly string[] {
  return callsOf(paused).map(({ approvalId }) => approvalId);
}

function callsOf({ round }: Pick<PausedAnswer, "round">): readonly WaitingCall[] {
  return round.outcomes.flatMap((outcome) => ("waiting" in outcome ? [outcome.waiting] : []));
}

const version = 1;

export function pause({ retrieved, ...rest }: PausedAnswer): WaitingAnswer {
  const { question, asked, searchedFor, images, imageDescription, history, filter, hits, trace, usage, requests } =
    retrieved;
  const asking = { question, asked, searchedFor, images, imageDescription, history, filter };
  const kept = { ...asking, hits, trace, usage, requests };
  const state = { version, retrieved: kept, ...rest };
  const waiting = {
    calls: callsOf(rest),
    state,
  };
  // The round trip through JSON makes this process go on with the same state that another one would read.
  return JSON.parse(JSON.stringify(waiting)) as WaitingAnswer;
}

/**
 * Reads a copy of the state, so that a second attempt begins where the first did.
 *
 * @throws OptionsError when it was not returned by `pause`, or was paused by a release with another format.
 */
export function readPaused({ state, calls }: WaitingAnswer): PausedAnswer {
  if (!isRecord(state) || state["version"] !== version) {
    const found = isRecord(state) ? String(state["version"]) : "none";
    throw damaged(`of version ${version} (got ${found})`);
  }
  const { success, error } = pausedShape.safeParse(state);
  if (success) {
    const paused = structuredClone(state) as unknown as PausedAnswer;
    if (sortedJson(callsOf(paused)) === sortedJson(calls)) return paused;
    // Somebody was shown, or wants, other calls than those that would run.
    throw damaged("and its calls are not those of its state");
  }
  throw damaged(`and its state lacks or has another ${error.issues.map(({ path }) => path.join(".")).join(", ")}`);
}

/** The parts that must be there; what is in them is as `pause` wrote it. */
const pausedShape = z.object({
  retrieved: z.object({ question: z.string(), hits: z.array(z.unknown()) }),
  sources: z.object({ passages: z.array(z.unknown()), hits: z.array(z.unknown()), steps: z.array(z.unknown()) }),
  draft: z.object({}),
  rounds: z.array(z.unknown()),
  round: z.object({ text: z.string(), reasoning: z.string(), outcomes: z.array(z.object({})) }),
});

function damaged(problem: string): OptionsError {
  const message = `must be the answer's \`waiting\` as it came, ${problem}. Ask the question again`;
  return new OptionsError("options", message, { call: "resume", option: "waiting" });
}
