import type { Database } from "../sqlite/database.js";
import { checksumOf } from "./database/checksums.js";

type Column = string | number | null;

export const checksumColumns = `
  ALTER TABLE conversations ADD COLUMN checksum INTEGER;
  ALTER TABLE approvals ADD COLUMN checksum INTEGER;
`;

/** A conversation has the sum of its exchanges' checksums, so that a turn costs the same however many there were before. */
export const exchangeChecksumColumns = `
  ALTER TABLE exchanges ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE conversations ADD COLUMN exchange_checksums INTEGER NOT NULL DEFAULT 0;
`;

interface ConversationRow {
  readonly number: number;
  readonly id: string;
  readonly checksum: number | null;
  readonly exchangeChecksums: number;
}

const statements = (database: Database) => ({
  conversation: database
    .prepare<[number], Column[]>(
      "SELECT scope, id, title, owner, created_at, updated_at, exchange_checksums FROM conversations WHERE number = ?",
    )
    .raw(),
  exchange: database
    .prepare<[number, number], [checksum: number, ...Column[]]>(
      `SELECT checksum, position, asked_at, question, answer, stopped, waiting FROM exchanges
       WHERE conversation = ? AND position = ?`,
    )
    .raw(),
  positions: database.prepare<[number], number>("SELECT position FROM exchanges WHERE conversation = ?").pluck(),
  approval: database
    .prepare<[string], Column[]>(
      "SELECT id, conversation, approved, decided_at, outcome, ended FROM approvals WHERE id = ?",
    )
    .raw(),
  conversations: database.prepare<[], ConversationRow>(
    "SELECT number, id, checksum, exchange_checksums AS exchangeChecksums FROM conversations",
  ),
  approvals: database.prepare<[], { id: string; checksum: number | null }>("SELECT id, checksum FROM approvals"),
  saveConversation: database.prepare<[number, number]>("UPDATE conversations SET checksum = ? WHERE number = ?"),
  saveExchange: database.prepare<[number, number, number]>(
    "UPDATE exchanges SET checksum = ? WHERE conversation = ? AND position = ?",
  ),
  addToConversation: database.prepare<[number, number]>(
    "UPDATE conversations SET exchange_checksums = exchange_checksums + ? WHERE number = ?",
  ),
  forgetExchanges: database.prepare<[number]>("UPDATE exchanges SET checksum = 0 WHERE conversation = ?"),
  forgetSum: database.prepare<[number]>("UPDATE conversations SET exchange_checksums = 0 WHERE number = ?"),
  saveApproval: database.prepare<[number, string]>("UPDATE approvals SET checksum = ? WHERE id = ?"),
});

/** Checksums of conversations and of decisions. Whoever changes a row saves its checksum in the same transaction. */
export class ConversationChecksums {
  readonly #sql: ReturnType<typeof statements>;

  constructor(database: Database) {
    this.#sql = statements(database);
  }

  /** Of a conversation as it is now, with the checksums that its exchanges were saved with. */
  saveConversation(number: number): void {
    this.#sql.saveConversation.run(checksumOf(this.#sql.conversation.get(number)!), number);
  }

  /** Of one exchange as it is now, and of its conversation. No other exchange is read. */
  saveExchange(number: number, position: number): void {
    const [before, ...exchange] = this.#sql.exchange.get(number, position)!;
    const checksum = checksumOf(exchange);
    this.#sql.saveExchange.run(checksum, number, position);
    this.#sql.addToConversation.run(checksum - before, number);
    this.saveConversation(number);
  }

  /** Of a conversation with all of its exchanges, as they are now. */
  saveExchanges(number: number): void {
    this.#sql.forgetExchanges.run(number);
    this.#sql.forgetSum.run(number);
    for (const position of this.#sql.positions.all(number)) this.saveExchange(number, position);
    this.saveConversation(number);
  }

  saveApproval(id: string): void {
    this.#sql.saveApproval.run(checksumOf(this.#sql.approval.get(id)!), id);
  }

  saveAll(): void {
    for (const { number } of this.#sql.conversations.all()) this.saveExchanges(number);
    for (const { id } of this.#sql.approvals.all()) this.saveApproval(id);
  }

  /** The conversations, and the ids of the decisions, that are not as they were written. */
  altered(): {
    readonly conversations: readonly { number: number; id: string }[];
    readonly approvals: readonly string[];
  } {
    return {
      conversations: this.#sql.conversations.all().filter((conversation) => this.#isAltered(conversation)),
      approvals: this.#sql.approvals
        .all()
        .filter(({ id, checksum }) => checksumOf(this.#sql.approval.get(id)!) !== checksum)
        .map(({ id }) => id),
    };
  }

  #isAltered({ number, checksum, exchangeChecksums }: ConversationRow): boolean {
    if (checksumOf(this.#sql.conversation.get(number)!) !== checksum) return true;
    let sum = 0;
    for (const position of this.#sql.positions.all(number)) {
      const [saved, ...exchange] = this.#sql.exchange.get(number, position)!;
      if (checksumOf(exchange) !== saved) return true;
      sum += saved;
    }
    return sum !== exchangeChecksums;
  }
}
