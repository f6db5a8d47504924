import type { Database } from "../sqlite/database.js";
import { checksumOf } from "./database/checksums.js";

type Column = string | number | null;

export const checksumColumns = `
  ALTER TABLE conversations ADD COLUMN checksum INTEGER;
  ALTER TABLE approvals ADD COLUMN checksum INTEGER;
`;

const statements = (database: Database) => ({
  conversation: database
    .prepare<[number], Column[]>(
      "SELECT scope, id, title, owner, created_at, updated_at FROM conversations WHERE number = ?",
    )
    .raw(),
  exchanges: database
    .prepare<[number], Column[]>(
      `SELECT position, asked_at, question, answer, stopped, waiting FROM exchanges
       WHERE conversation = ? ORDER BY position`,
    )
    .raw(),
  approval: database
    .prepare<[string], Column[]>(
      "SELECT id, conversation, approved, decided_at, outcome, ended FROM approvals WHERE id = ?",
    )
    .raw(),
  conversations: database.prepare<[], { number: number; id: string; checksum: number | null }>(
    "SELECT number, id, checksum FROM conversations",
  ),
  approvals: database.prepare<[], { id: string; checksum: number | null }>("SELECT id, checksum FROM approvals"),
  saveConversation: database.prepare<[number, number]>("UPDATE conversations SET checksum = ? WHERE number = ?"),
  saveApproval: database.prepare<[number, string]>("UPDATE approvals SET checksum = ? WHERE id = ?"),
});

/** Checksums of conversations and of decisions. Whoever changes a row saves its checksum in the same transaction. */
export class ConversationChecksums {
  readonly #sql: ReturnType<typeof statements>;

  constructor(database: Database) {
    this.#sql = statements(database);
  }

  /** Of a conversation and its exchanges, as they are now. */
  saveConversation(number: number): void {
    this.#sql.saveConversation.run(this.#ofConversation(number), number);
  }

  saveApproval(id: string): void {
    this.#sql.saveApproval.run(checksumOf(this.#sql.approval.get(id)!), id);
  }

  saveAll(): void {
    for (const { number } of this.#sql.conversations.all()) this.saveConversation(number);
    for (const { id } of this.#sql.approvals.all()) this.saveApproval(id);
  }

  /** The conversations, and the ids of the decisions, that are not as they were written. */
  altered(): {
    readonly conversations: readonly { number: number; id: string }[];
    readonly approvals: readonly string[];
  } {
    return {
      conversations: this.#sql.conversations
        .all()
        .filter(({ number, checksum }) => this.#ofConversation(number) !== checksum),
      approvals: this.#sql.approvals
        .all()
        .filter(({ id, checksum }) => checksumOf(this.#sql.approval.get(id)!) !== checksum)
        .map(({ id }) => id),
    };
  }

  #ofConversation(number: number): number {
    const own = checksumOf(this.#sql.conversation.get(number)!);
    return this.#sql.exchanges.all(number).reduce((sum, exchange) => checksumOf(exchange, sum), own);
  }
}
