import type { ApprovalBook, Decision } from "../../core/approval.js";
import { type ApprovalRow, save } from "./conversation-rows.js";
import { type ConversationRunner, parameters, rows, type Work } from "./work.js";

/** The decisions on these calls; those without one are left out. */
export function* findDecisions(ids: readonly string[]): Work<ReadonlyMap<string, Decision>> {
  return new Map(
    (yield* find(ids)).map(({ id, approved, decided_at: decidedAtMs, outcome, ended }): [string, Decision] => {
      const known = outcome === null ? {} : { outcome };
      return [id, { approved: approved !== 0, decidedAtMs, ...known, ...(ended !== 0 && { ended: true }) }];
    }),
  );
}

function* find(ids: readonly string[]): Work<readonly ApprovalRow[]> {
  if (ids.length === 0) return [];
  return yield* rows<ApprovalRow>(`SELECT * FROM approvals WHERE id IN (${parameters(ids.length)})`, ...ids);
}

/**
 * A book of decisions: one commit records all decisions of a call of `decide`, or none.
 *
 * @param conversation key of the conversation that the calls belong to, and with which they are deleted.
 */
export function approvalBook(
  { read, change }: ConversationRunner,
  scope: string,
  conversation: string | null,
): ApprovalBook {
  const alter = (ids: readonly string[], altered: (row: ApprovalRow) => ApprovalRow) =>
    change(ids, function* () {
      yield* save("approvals", (yield* find(ids)).map(altered));
    });
  return {
    decide: (approvals) => {
      const ids = Object.keys(approvals);
      return change([...ids, ...(conversation === null ? [] : [conversation])], function* () {
        if ((yield* find(ids)).length > 0) return false;
        if (conversation !== null) {
          const there = yield* rows("SELECT key FROM conversations WHERE key = $1", conversation);
          // A conversation that was deleted meanwhile has nothing to decide any more.
          if (there.length === 0) return false;
        }
        const decided_at = Date.now();
        yield* save(
          "approvals",
          Object.entries(approvals).map(([id, approved]) => ({
            id,
            conversation,
            scope,
            approved: approved ? 1 : 0,
            decided_at,
            outcome: null,
            ended: 0,
          })),
        );
        return true;
      });
    },
    record: (id, outcome) => alter([id], (row) => ({ ...row, outcome })),
    decisions: (ids) => read(() => findDecisions(ids)),
    // A conversation ends its calls by keeping the answer: an end without an answer would lose what was done.
    ...(conversation === null && { end: (ids) => alter(ids, (row) => ({ ...row, outcome: null, ended: 1 })) }),
  };
}
