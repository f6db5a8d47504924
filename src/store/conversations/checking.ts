import type { StoreProblem } from "../../core/ports.js";
import {
  type ApprovalRow,
  type ConversationRow,
  type ExchangeRow,
  isIntact,
  save,
  saveExchanges,
  sumOfChecksums,
} from "./conversation-rows.js";
import { exchangeOf } from "./stored-exchange.js";
import { parameters, rows, type Work } from "./work.js";

/** Rows of conversations that were altered. */
export interface AlteredConversations {
  readonly conversations: readonly ConversationRow[];
  /** Decisions. */
  readonly approvals: readonly ApprovalRow[];
}

const rowsPerRead = 20;

/** Compares all conversations and decisions with their checksums. */
export function* findAltered(): Work<AlteredConversations> {
  const conversations: ConversationRow[] = [];
  for (let after = ""; ;) {
    const some = yield* nextRows<ConversationRow>("conversations", "key", after);
    if (some.length === 0) break;
    after = some.at(-1)!.key;
    const exchanges = yield* rows<ExchangeRow>(
      `SELECT * FROM exchanges WHERE conversation IN (${parameters(some.length)})`,
      ...some.map(({ key }) => key),
    );
    conversations.push(
      ...some.filter((row) => {
        const own = exchanges.filter(({ conversation }) => conversation === row.key);
        const isSound = isIntact("conversations", row) && own.every((exchange) => isIntact("exchanges", exchange));
        return !isSound || sumOfChecksums(own) !== row.exchange_checksums;
      }),
    );
  }
  const approvals: ApprovalRow[] = [];
  for (let after = ""; ;) {
    const some = yield* nextRows<ApprovalRow>("approvals", "id", after);
    if (some.length === 0) return { conversations, approvals };
    after = some.at(-1)!.id;
    approvals.push(...some.filter((row) => !isIntact("approvals", row)));
  }
}

function nextRows<Row extends object>(table: string, key: string, after: string): Work<readonly Row[]> {
  return rows<Row>(`SELECT * FROM ${table} WHERE ${key} > $1 ORDER BY ${key} LIMIT ${rowsPerRead}`, after);
}

export function problemsOf({ conversations, approvals }: AlteredConversations): StoreProblem[] {
  const problem = (message: string) => ({ what: "conversations", message, repairable: true }) as const;
  return [
    ...conversations.map(({ id }) =>
      problem(
        `Conversation ${JSON.stringify(id)} is not as it was written: a repair keeps it as it reads now, without ` +
          "answers that cannot be read any more, and without what waits for approval",
      ),
    ),
    ...approvals.map(({ id }) =>
      problem(
        `The decision on the call ${id} is not as it was written: a repair takes the call for one that may have run, ` +
          "so that it never runs again",
      ),
    ),
  ];
}

/** Makes what was altered sound again. */
export function* repairAltered(): Work<void> {
  const { conversations, approvals } = yield* findAltered();
  for (const conversation of conversations) {
    const exchanges = yield* rows<ExchangeRow>("SELECT * FROM exchanges WHERE conversation = $1", conversation.key);
    const sound = exchanges.map((row) => ({
      ...row,
      // An altered call must not be put to anybody for approval.
      waiting: null,
      ...(!isReadable(row) && { answer: null, stopped: 0 }),
    }));
    yield* saveExchanges(conversation, sound, conversation.exchange_checksums);
  }
  // Without its decision the call could be decided again, and run twice.
  yield* save(
    "approvals",
    approvals.map((row) => ({ ...row, approved: 1, outcome: null })),
  );
}

function isReadable(row: ExchangeRow): boolean {
  try {
    exchangeOf(row, "", new Map());
    return true;
  } catch {
    return false;
  }
}
