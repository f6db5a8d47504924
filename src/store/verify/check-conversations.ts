import { existsSync } from "node:fs";
import { asError, StoreError } from "../../core/errors.js";
import type { StoreProblem } from "../../core/ports.js";
import { type Database, guarded, openDatabase, openForReading } from "../../sqlite/database.js";
import { ConversationChecksums } from "../conversation-checksums.js";
import { conversationsPath, conversationsVersion } from "../conversations.js";
import { exchangeOf, type ExchangeRow } from "../stored-exchange.js";

/** The problems of the conversations in a store's folder. A file of an earlier version has no checksums yet. */
export function conversationProblems(folder: string): StoreProblem[] {
  const path = conversationsPath(folder);
  if (!existsSync(path)) return [];
  const problem = (message: string, repairable: boolean) => ({ what: "conversations", message, repairable }) as const;
  try {
    return withDatabase(openForReading, path, (database) => {
      const broken = database.pragma("integrity_check(10)") as readonly { readonly integrity_check: string }[];
      const found = broken.filter(({ integrity_check: result }) => result !== "ok");
      if (found.length > 0) return found.map(({ integrity_check: result }) => problem(`${path}: ${result}`, false));
      if (database.pragma("user_version", { simple: true }) !== conversationsVersion) return [];
      const { conversations, approvals } = new ConversationChecksums(database).altered();
      return [
        ...conversations.map(({ id }) =>
          problem(
            `Conversation ${JSON.stringify(id)} is not as it was written: a repair keeps it as it reads now, without ` +
              "answers that cannot be read any more, and without what waits for approval",
            true,
          ),
        ),
        ...approvals.map((id) =>
          problem(
            `The decision on the call ${id} is not as it was written: a repair takes the call for one that may have run, ` +
              "so that it never runs again",
            true,
          ),
        ),
      ];
    });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "damaged")) throw error;
    return [problem(asError(error).message, false)];
  }
}

/** Makes what was altered sound again, in one transaction. */
export function repairConversations(folder: string): void {
  const path = conversationsPath(folder);
  withDatabase(openDatabase, path, (database) => {
    const exchanges = database.prepare<[number], ExchangeRow>(
      "SELECT position, asked_at, question, answer, stopped, waiting FROM exchanges WHERE conversation = ?",
    );
    const clear = database.prepare<[number, number]>(
      "UPDATE exchanges SET answer = NULL, stopped = 0, waiting = NULL WHERE conversation = ? AND position = ?",
    );
    // What was altered must not be put to anybody for approval.
    const clearWaits = database.prepare<[number]>("UPDATE exchanges SET waiting = NULL WHERE conversation = ?");
    // Without its decision the call could be decided again, and run twice.
    const settle = database.prepare<[string]>("UPDATE approvals SET approved = 1, outcome = NULL WHERE id = ?");
    database
      .transaction(() => {
        const checksums = new ConversationChecksums(database);
        const { conversations, approvals } = checksums.altered();
        for (const { number } of conversations) {
          for (const row of exchanges.all(number)) if (!isReadable(row, path)) clear.run(number, row.position);
          clearWaits.run(number);
          checksums.saveExchanges(number);
        }
        for (const id of approvals) {
          settle.run(id);
          checksums.saveApproval(id);
        }
      })
      .immediate();
  });
}

function isReadable(row: ExchangeRow, path: string): boolean {
  try {
    exchangeOf(row, path, () => new Map());
    return true;
  } catch {
    return false;
  }
}

function withDatabase<Result>(
  open: (path: string) => Database,
  path: string,
  work: (database: Database) => Result,
): Result {
  const database = open(path);
  try {
    return guarded(path, () => work(database));
  } finally {
    database.close();
  }
}
