import type { ApprovalBook, Approvals, Decision, WaitingCall } from "../../../core/approval.js";
import { AnswerError, OptionsError } from "../../../core/errors.js";
import { type RoundEvent, runSideBySide, type ToolRoundOptions } from "./run-tool-round.js";
import {
  carryOut,
  failedCall,
  type FinishedCall,
  inputInJson,
  type PausedCall,
  refusedCall,
  type ToolOutcome,
} from "./run-tool.js";
import type { CheckedCall } from "./toolbox.js";

export interface RoundDecisions {
  readonly approvals: Approvals;
  readonly book: ApprovalBook;
}

/**
 * Carries out the decisions on a round that waits, and yields the outcomes of its calls. Decisions are recorded before
 * any call begins, so that none begins twice; without new decisions the round continues with the recorded outcomes.
 *
 * @throws OptionsError when an id is unknown, a call stays undecided or cannot be run; nothing is recorded then.
 * @throws AnswerError (`decided`) when one of the calls was decided before.
 */
export async function* resumeToolRound(
  round: readonly ToolOutcome[],
  { approvals, book }: RoundDecisions,
  options: ToolRoundOptions,
): AsyncGenerator<RoundEvent, FinishedCall[]> {
  const paused = round.filter((outcome) => "waiting" in outcome);
  const waiting = paused.map((call) => call.waiting);
  const ids = waiting.map(({ approvalId }) => approvalId);
  const earlier = await book.decisions(ids);
  refuseIncomplete(waiting, approvals, earlier);
  const calls = await Promise.all(
    paused.map(async (call) => ({
      ...call.waiting,
      arguments: call.arguments,
      ...(call.extraContent && { extraContent: call.extraContent }),
      checked: approvals[call.waiting.approvalId] === true ? await checkAgain(call, options) : undefined,
    })),
  );
  options.context.signal.throwIfAborted();
  if (!(await book.decide(approvals))) throw decidedBefore(waiting, await book.decisions(ids));

  const outcomes = yield* runSideBySide(calls, options, async (call, how): Promise<FinishedCall> => {
    const { approvalId, checked } = call;
    const known = earlier.get(approvalId);
    if (known?.outcome !== undefined) return JSON.parse(known.outcome) as FinishedCall;
    if (known?.approved) return { ...failedCall(call, unknownOutcome, how), approved: true };
    if (!checked) return refusedCall(call, how);
    const outcome = await carryOut(checked, { ...how, approved: true }, options.context.tracing);
    await book.record(approvalId, JSON.stringify(outcome));
    return outcome;
  });
  const finished = outcomes.values();
  return round.map((outcome) => ("waiting" in outcome ? finished.next().value! : outcome));
}

const unknownOutcome =
  "The call was approved, but its outcome is unknown: the process that made it ended before its result was recorded. " +
  "It may have been carried out or not, and was not made again";

function refuseIncomplete(
  calls: readonly WaitingCall[],
  approvals: Approvals,
  earlier: ReadonlyMap<string, Decision>,
): void {
  const given = Object.keys(approvals);
  const unknown = given.filter((approvalId) => !calls.some((call) => call.approvalId === approvalId));
  if (unknown.length > 0) throw refusal(`no call waits under ${unknown.join(", ")}. These do: ${describe(calls)}`);
  if (given.some((approvalId) => earlier.has(approvalId)) || [...earlier.values()].some(({ ended }) => ended)) {
    throw decidedBefore(calls, earlier);
  }
  const open = calls.filter(({ approvalId }) => !earlier.has(approvalId) && !given.includes(approvalId));
  if (open.length === 0) return;
  throw refusal(`the calls of one reply are decided together. Give true or false for: ${describe(open)}`);
}

/** Checks the arguments again, since only JSON was kept of the schema's output. */
async function checkAgain(
  { waiting: { id, name, input }, arguments: written, extraContent }: PausedCall,
  { tools }: ToolRoundOptions,
): Promise<CheckedCall> {
  const checked = await tools.check({
    id,
    name: tools.nameFor(name),
    arguments: written,
    ...(extraContent && { extraContent }),
  });
  if ("refusal" in checked) {
    throw refusal(`${checked.refusal}. Pass the tools and approve as they were when the question was asked`);
  }
  if (JSON.stringify(inputInJson(checked)) === JSON.stringify(input)) return checked;
  throw refusal(`the schema of ${name} does not read the arguments as it did when ${id} was put up for approval`);
}

function decidedBefore(calls: readonly WaitingCall[], decisions: ReadonlyMap<string, Decision>): AnswerError {
  const found = calls.flatMap(({ approvalId, id, name }) => {
    const decision = decisions.get(approvalId);
    if (!decision) return [];
    const { approved, decidedAtMs, outcome, ended } = decision;
    const known = !approved || ended || outcome !== undefined ? "" : ", its outcome is not recorded";
    return [
      `${name} (${id}) was ${approved ? "approved" : "refused"} at ${new Date(decidedAtMs).toISOString()}${known}`,
    ];
  });
  const isOver = [...decisions.values()].some(({ ended }) => ended);
  const hint = isOver
    ? "The answer was finished, and nothing waits any more"
    : "If the process that resumed it has ended, resume with {}: that goes on with what is recorded";
  return new AnswerError("decided", `Decided before: ${found.join("; ")}. Nothing was run again. ${hint}`);
}

function refusal(message: string): OptionsError {
  return new OptionsError("options", message, { call: "resume", option: "approvals" });
}

function describe(calls: readonly WaitingCall[]): string {
  return calls.map(({ approvalId, id, name }) => `${approvalId} (${name}, ${id})`).join(", ");
}
