import { createHash } from "node:crypto";
import { checksumOf } from "../database/checksums.js";
import { type Column, parameters, rows, type Work } from "./work.js";

/**
 * The tables, for every database. A conversation has the sum of its exchanges' checksums, so that a turn costs the same
 * however many there were before. Each row names its scope.
 */
export const conversationTables = `
  CREATE TABLE conversations (
    key TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT,
    owner TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    exchange_checksums BIGINT NOT NULL,
    checksum BIGINT NOT NULL
  );
  CREATE TABLE exchanges (
    conversation TEXT NOT NULL REFERENCES conversations (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    scope TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT,
    stopped INTEGER NOT NULL,
    waiting TEXT,
    checksum BIGINT NOT NULL,
    PRIMARY KEY (conversation, position)
  );
  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    conversation TEXT REFERENCES conversations (key) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    approved INTEGER NOT NULL,
    decided_at BIGINT NOT NULL,
    outcome TEXT,
    ended INTEGER NOT NULL,
    checksum BIGINT NOT NULL
  );
  CREATE INDEX approvals_by_conversation ON approvals (conversation);
`;

export interface ConversationRow {
  /** `conversationKey` of scope and id. */
  readonly key: string;
  readonly scope: string;
  readonly id: string;
  readonly title: string | null;
  readonly owner: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly exchange_checksums: number;
  readonly checksum: number;
}

export interface ExchangeRow {
  /** Key of its conversation. */
  readonly conversation: string;
  readonly position: number;
  readonly scope: string;
  readonly asked_at: number;
  readonly question: string;
  /** JSON. */
  readonly answer: string | null;
  readonly stopped: number;
  /** JSON. */
  readonly waiting: string | null;
  readonly checksum: number;
}

export interface ApprovalRow {
  readonly id: string;
  /** Key of the conversation that it goes with; null for a call outside of conversations. */
  readonly conversation: string | null;
  readonly scope: string;
  readonly approved: number;
  readonly decided_at: number;
  /** JSON. */
  readonly outcome: string | null;
  readonly ended: number;
  readonly checksum: number;
}

interface Rows {
  readonly conversations: ConversationRow;
  readonly exchanges: ExchangeRow;
  readonly approvals: ApprovalRow;
}
type Table = keyof Rows;
type Unsaved<Row> = Omit<Row, "checksum">;

/** The columns of the tables but the checksum: first the primary key, then the others. */
const columns: { readonly [Name in Table]: readonly [readonly string[], readonly string[]] } = {
  conversations: [["key"], ["scope", "id", "title", "owner", "created_at", "updated_at", "exchange_checksums"]],
  exchanges: [
    ["conversation", "position"],
    ["scope", "asked_at", "question", "answer", "stopped", "waiting"],
  ],
  approvals: [["id"], ["conversation", "scope", "approved", "decided_at", "outcome", "ended"]],
};

/** Key of a conversation. Its length is fixed, however long scope and id are, so that every database can index it. */
export function conversationKey(scope: string, id: string): string {
  return createHash("sha256")
    .update(JSON.stringify([scope, id]))
    .digest("hex");
}

/** Whether a row is as it was saved. */
export function isIntact<Name extends Table>(table: Name, row: Rows[Name]): boolean {
  return withChecksum(table, row).checksum === row.checksum;
}

function withChecksum<Name extends Table>(
  table: Name,
  row: Unsaved<Rows[Name]>,
): Unsaved<Rows[Name]> & { readonly checksum: number } {
  const values = columns[table].flat().map((name) => row[name as keyof typeof row] as Column);
  return { ...row, checksum: checksumOf(values) };
}

export function sumOfChecksums(all: readonly { readonly checksum: number }[], from = 0): number {
  return all.reduce((sum, { checksum }) => sum + checksum, from);
}

/** Databases limit the parameters of a statement. */
const rowsPerStatement = 500;

/** Inserts rows with their checksums, or puts them in the place of those with the same key. */
export function* save<Name extends Table>(table: Name, all: readonly Unsaved<Rows[Name]>[]): Work<void> {
  const [key, others] = columns[table];
  const names = [...key, ...others, "checksum"];
  const replaced = names.map((name) => `${name} = excluded.${name}`).join(", ");
  for (let offset = 0; offset < all.length; offset += rowsPerStatement) {
    const some = all.slice(offset, offset + rowsPerStatement).map((row) => withChecksum(table, row));
    const tuples = some.map((_, index) => `(${parameters(names.length, 1 + index * names.length)})`);
    yield* rows(
      `INSERT INTO ${table} (${names.join(", ")}) VALUES ${tuples.join(", ")}
       ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${replaced}`,
      ...some.flatMap((row) => names.map((name) => row[name as keyof typeof row] as Column)),
    );
  }
}

/**
 * Saves exchanges with their conversation. No other exchange is read.
 *
 * @param before sum of the checksums that they had.
 */
export function* saveExchanges(
  conversation: Unsaved<ConversationRow>,
  exchanges: readonly Unsaved<ExchangeRow>[],
  before = 0,
): Work<void> {
  const saved = exchanges.map((row) => withChecksum("exchanges", row));
  const exchange_checksums = sumOfChecksums(saved, conversation.exchange_checksums - before);
  yield* save("conversations", [{ ...conversation, exchange_checksums }]);
  yield* save("exchanges", saved);
}
