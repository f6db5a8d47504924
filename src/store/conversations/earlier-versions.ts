import type { Database } from "../../sqlite/database.js";
import {
  type ApprovalRow,
  conversationKey,
  type ConversationRow,
  conversationTables,
  type ExchangeRow,
  save,
  saveExchanges,
} from "./conversation-rows.js";
import type { Work } from "./work.js";

/** Written into every file. An earlier version is upgraded when it is opened, a later one refused. */
export const conversationsVersion = 6;

// The first version had neither scopes nor citations: its conversations are those of no scope.
const scopes = `
  ALTER TABLE exchanges RENAME TO first_exchanges;
  CREATE TABLE conversations (number INTEGER PRIMARY KEY, scope TEXT, id TEXT, title TEXT, owner TEXT,
    created_at INTEGER, updated_at INTEGER);
  CREATE TABLE exchanges (conversation INTEGER, position INTEGER, asked_at INTEGER, question TEXT, answer TEXT,
    stopped INTEGER NOT NULL DEFAULT 0);
  INSERT INTO conversations (scope, id, created_at, updated_at)
    SELECT '', conversation, MIN(asked_at), MAX(asked_at) FROM first_exchanges GROUP BY conversation;
  INSERT INTO exchanges (conversation, position, asked_at, question, answer)
    SELECT number, position, asked_at, question,
      CASE WHEN answer IS NOT NULL
        THEN json_object('text', answer ->> 'text', 'citations', json('[]'), 'turn', json(answer)) END
    FROM first_exchanges JOIN conversations ON id = first_exchanges.conversation;
  DROP TABLE first_exchanges;
`;

// The second had no answers that wait.
const waits = `
  ALTER TABLE exchanges ADD COLUMN waiting TEXT;
  CREATE TABLE approvals (id TEXT, conversation INTEGER, approved INTEGER, decided_at INTEGER, outcome TEXT,
    ended INTEGER NOT NULL DEFAULT 0);
`;

// Up to the fifth, rows were numbered, and only conversations named their scope.
const renamed = `
  ALTER TABLE approvals RENAME TO earlier_approvals;
  ALTER TABLE exchanges RENAME TO earlier_exchanges;
  ALTER TABLE conversations RENAME TO earlier_conversations;
`;
const dropped = `
  DROP TABLE earlier_approvals;
  DROP TABLE earlier_exchanges;
  DROP TABLE earlier_conversations;
`;

/** The same conversations in the tables of this version, in the transaction that is open. */
export function upgradeConversations(database: Database, version: number, run: (work: Work<void>) => void): void {
  if (version < 2) database.exec(scopes);
  if (version < 3) database.exec(waits);
  database.exec(renamed + conversationTables);
  type Numbered = Omit<ConversationRow, "key" | "exchange_checksums"> & { readonly number: number };
  const exchangesOf = database.prepare<[number], Omit<ExchangeRow, "conversation" | "scope">>(
    "SELECT position, asked_at, question, answer, stopped, waiting FROM earlier_exchanges WHERE conversation = ?",
  );
  const approvals = "SELECT id, approved, decided_at, outcome, ended FROM earlier_approvals WHERE conversation IS ?";
  const approvalsOf = database.prepare<[number | null], Omit<ApprovalRow, "conversation" | "scope">>(approvals);
  const all = "SELECT number, scope, id, title, owner, created_at, updated_at FROM earlier_conversations";
  for (const { number, ...row } of database.prepare<[], Numbered>(all).all()) {
    const { scope } = row;
    const conversation = conversationKey(scope, row.id);
    const exchanges = exchangesOf.all(number).map((exchange) => ({ ...exchange, conversation, scope }));
    run(saveExchanges({ ...row, key: conversation, exchange_checksums: 0 }, exchanges));
    run(
      save(
        "approvals",
        approvalsOf.all(number).map((approval) => ({ ...approval, conversation, scope })),
      ),
    );
  }
  run(
    save(
      "approvals",
      approvalsOf.all(null).map((approval) => ({ ...approval, conversation: null, scope: "" })),
    ),
  );
  database.exec(dropped);
}
