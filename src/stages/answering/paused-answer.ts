import type { WaitingAnswer } from "../../core/approval.js";
import { OptionsError } from "../../core/errors.js";
import { isRecord } from "../../core/json.js";
import type { Retrieved } from "../../core/types.js";
import type { ToolRound } from "../../text/prompt/tool-messages.js";
import type { DraftState } from "./answer-draft.js";
import type { SourcesState } from "./answer-sources.js";
import type { ToolOutcome } from "./tools/run-tool.js";

/** An answer that waits for approvals: all that another process needs to go on with it. */
export interface PausedAnswer {
  readonly retrieved: Retrieved;
  readonly sources: SourcesState;
  readonly draft: DraftState;
  /** Rounds that are over, as the model reads them. */
  readonly rounds: readonly ToolRound[];
  /** The round that waits: what the model said and thought before its calls, and what has become of these. */
  readonly round: { readonly text: string; readonly reasoning: string; readonly outcomes: readonly ToolOutcome[] };
}

/** The calls that were waiting, by `approvalId`. */
export function waitingIds({ round }: PausedAnswer): readonly string[] {
  return round.outcomes.flatMap((outcome) => ("waiting" in outcome ? [outcome.waiting.approvalId] : []));
}

const version = 1;

export function pause({ retrieved, ...rest }: PausedAnswer): WaitingAnswer {
  const { question, asked, history, filter, hits, trace, usage, requests } = retrieved;
  const state = { version, retrieved: { question, asked, history, filter, hits, trace, usage, requests }, ...rest };
  const waiting = {
    calls: rest.round.outcomes.flatMap((outcome) => ("waiting" in outcome ? [outcome.waiting] : [])),
    state,
  };
  // What goes on in this process is then the same as what another one reads.
  return JSON.parse(JSON.stringify(waiting)) as WaitingAnswer;
}

/**
 * A copy of its own, so that a second attempt begins where the first did.
 *
 * @throws OptionsError when it is not what `pause` returned, or was paused by a release that kept other things.
 */
export function readPaused({ state }: WaitingAnswer): PausedAnswer {
  if (isRecord(state) && state["version"] === version) return structuredClone(state) as unknown as PausedAnswer;
  const found = isRecord(state) ? String(state["version"]) : "none";
  throw new OptionsError(
    "options",
    `must be the answer's \`waiting\` as it came, of version ${version} (got ${found}). Ask the question again`,
    { call: "resume", option: "waiting" },
  );
}
