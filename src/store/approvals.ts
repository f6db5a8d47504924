import type { Approvals, Decision } from "../core/approval.js";
import type { Database } from "../sqlite/database.js";
import type { ConversationChecksums } from "./conversation-checksums.js";
import type { StoredApprovals } from "./stored-exchange.js";

/** The table of decisions. Those on calls outside of conversations have no conversation. */
export const approvalsTable = `
  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    conversation INTEGER REFERENCES conversations (number) ON DELETE CASCADE,
    approved INTEGER NOT NULL,
    decided_at INTEGER NOT NULL,
    outcome TEXT,
    ended INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
`;

interface Row {
  readonly approved: number;
  readonly decided_at: number;
  readonly outcome: string | null;
  readonly ended: number;
}

/** Books of decisions in a database: one commit records all decisions of a call of `decide`, or none. */
export function approvalBooks(
  database: Database,
  checksums: ConversationChecksums,
  use: <Result>(work: () => Result) => Result,
) {
  const inserting = database.prepare<[string, number | null, number, number]>(
    "INSERT INTO approvals (id, conversation, approved, decided_at) VALUES (?, ?, ?, ?)",
  );
  const finding = database.prepare<[string], Row>(
    "SELECT approved, decided_at, outcome, ended FROM approvals WHERE id = ?",
  );
  const recording = database.prepare<[string, string]>("UPDATE approvals SET outcome = ? WHERE id = ?");
  const ending = database.prepare<[string]>("UPDATE approvals SET outcome = NULL, ended = 1 WHERE id = ?");
  const deciding = database.transaction((approvals: Approvals, conversation: number | null) => {
    const given = Object.entries(approvals);
    if (given.some(([id]) => finding.get(id))) return false;
    for (const [id, approved] of given) {
      inserting.run(id, conversation, approved ? 1 : 0, Date.now());
      checksums.saveApproval(id);
    }
    return true;
  });
  const change = database.transaction((ids: readonly string[], run: (id: string) => { readonly changes: number }) => {
    for (const id of ids) if (run(id).changes > 0) checksums.saveApproval(id);
  });
  const decisions = (ids: readonly string[]) =>
    new Map(
      ids.flatMap((id): [string, Decision][] => {
        const row = finding.get(id);
        if (!row) return [];
        const { approved, decided_at: decidedAtMs, outcome, ended } = row;
        const known = outcome === null ? {} : { outcome };
        return [[id, { approved: approved !== 0, decidedAtMs, ...known, ...(ended !== 0 && { ended: true }) }]];
      }),
    );
  return {
    decisions,
    /** @param conversation the number of the conversation that the calls belong to, and with which they are deleted. */
    book: (conversation: number | null): StoredApprovals => ({
      decide: (approvals) => use(() => deciding.immediate(approvals, conversation)),
      record: (id, outcome) => use(() => change.immediate([id], () => recording.run(outcome, id))),
      decisions: (ids) => use(() => decisions(ids)),
      // A conversation ends its calls by keeping the answer: an end without an answer would lose what was done.
      ...(conversation === null && { end: (ids) => use(() => change.immediate(ids, (id) => ending.run(id))) }),
    }),
  };
}
