import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { OptionsError, StoreError } from "../core/errors.js";
import { guarded, openDatabase, type Database } from "../sqlite/database.js";
import { checksumColumns, ConversationChecksums, exchangeChecksumColumns } from "./conversation-checksums.js";
import { approvalBooks, approvalsTable } from "./approvals.js";
import {
  type AnswerToResume,
  exchangeOf,
  type ExchangeRow,
  type StoredAnswer,
  type StoredApprovals,
  type StoredExchange,
  waitOf,
} from "./stored-exchange.js";

/** What a list of conversations shows of one. */
export interface ConversationInfo {
  /** The id that it was opened by. */
  readonly id: string;
  /** The name it was given, else its first question; empty while there is neither. */
  readonly title: string;
  /** Whose it is, as the application said when it began. */
  readonly owner?: string;
  /** The number of questions. */
  readonly exchanges: number;
  /** True when one of the answers waits for approval. */
  readonly waiting?: true;
  /** Time of its beginning and of its last question or new name, in milliseconds since 1970. */
  readonly createdAtMs: number;
  /** Time of its last question or new name, in milliseconds since 1970. */
  readonly updatedAtMs: number;
}

/** The conversations of one scope: those of another with the same ids are others, and cannot be reached from here. */
export interface ScopedConversations {
  /** Those with the last question first. */
  readonly list: (filter?: { readonly owner?: string }) => readonly ConversationInfo[];
  /** `undefined` when there is none of that id. */
  readonly info: (id: string) => ConversationInfo | undefined;
  readonly exchanges: (id: string) => readonly StoredExchange[];
  /**
   * Appends a question to a conversation, which is created if it is new. Returns the question's position.
   *
   * @throws OptionsError when the conversation has another owner.
   */
  readonly ask: (id: string, question: string, owner?: string) => number;
  /**
   * Saves the answer to a question, unless the conversation was deleted in the meantime. One that was stopped never takes
   * the place of a whole one, and leaves what waits; a whole one is what waited.
   *
   * @param resumed id of a call that must still be waiting, or nothing is saved.
   * @returns whether it was saved.
   */
  readonly answer: (id: string, position: number, answer: StoredAnswer | AnswerToResume, resumed?: string) => boolean;
  /** The answers that wait, by the position of their questions. */
  readonly waiting: (id: string) => ReadonlyMap<number, AnswerToResume>;
  /** The book of decisions on calls of this conversation. */
  readonly approvals: (id: string) => StoredApprovals;
  /** Gives a conversation a name. Returns whether it exists. */
  readonly rename: (id: string, title: string) => boolean;
  /**
   * Starts a conversation with the first `count` exchanges of another.
   *
   * @throws OptionsError when a conversation with that id exists.
   */
  readonly branch: (from: string, id: string, count: number) => void;
  /** Deletes the exchanges behind a position. */
  readonly truncate: (id: string, position: number) => void;
  /** Returns whether it existed. */
  readonly delete: (id: string) => boolean;
}

/** The conversations of a store, in a file of their own, so that neither they nor an ingest wait for each other. */
export interface Conversations {
  /** Those of the scope with this name; the empty name is that of no scope. */
  readonly of: (scope: string) => ScopedConversations;
  /** The book of decisions on calls outside of conversations. */
  readonly approvals: StoredApprovals;
  readonly close: () => void;
}

const tables = `
  CREATE TABLE conversations (
    number INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT,
    owner TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (scope, id)
  );
  CREATE TABLE exchanges (
    conversation INTEGER NOT NULL REFERENCES conversations (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    question TEXT NOT NULL,
    answer TEXT,
    stopped INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (conversation, position)
  ) WITHOUT ROWID;
`;

// The first version had neither scopes nor citations: its conversations are those of no scope.
const upgrade = `
  ALTER TABLE exchanges RENAME TO first_exchanges;
  ${tables}
  INSERT INTO conversations (scope, id, created_at, updated_at)
    SELECT '', conversation, MIN(asked_at), MAX(asked_at) FROM first_exchanges GROUP BY conversation;
  INSERT INTO exchanges (conversation, position, asked_at, question, answer)
    SELECT number, position, asked_at, question,
      CASE WHEN answer IS NOT NULL
        THEN json_object('text', answer ->> 'text', 'citations', json('[]'), 'turn', json(answer)) END
    FROM first_exchanges JOIN conversations ON id = first_exchanges.conversation;
  DROP TABLE first_exchanges;
`;

const waitingAnswers = `
  ALTER TABLE exchanges ADD COLUMN waiting TEXT;
  ${approvalsTable}
`;

/** Written into every file. An earlier version is upgraded when it is opened, a later one refused. */
export const conversationsVersion = 5;
const cacheBytes = 1_000_000;

interface Keeping {
  readonly scope: string;
  readonly id: string;
  readonly position: number;
  /** JSON. */
  readonly answer: string;
  readonly resumed: string | null;
}

interface InfoRow {
  readonly id: string;
  readonly title: string | null;
  readonly owner: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly exchanges: number;
  readonly waiting: number;
  readonly first_question: string | null;
}

export function conversationsPath(folder: string): string {
  return join(folder, "conversations.sqlite");
}

/**
 * Opens `conversations.sqlite` in a store's folder.
 *
 * @throws StoreError `damaged`, `locked`, or `version` when a newer release wrote it.
 */
export function openConversations(folder: string): Conversations {
  mkdirSync(folder, { recursive: true });
  const path = conversationsPath(folder);
  const database = openDatabase(path, cacheBytes);
  try {
    guarded(path, () => prepare(database, path));
  } catch (error) {
    database.close();
    throw error;
  }
  const checksums = new ConversationChecksums(database);
  const finding = database.prepare<[string, string], { readonly number: number; readonly owner: string | null }>(
    "SELECT number, owner FROM conversations WHERE scope = ? AND id = ?",
  );
  const creating = database.prepare<[string, string, string | null, number, number]>(
    "INSERT INTO conversations (scope, id, owner, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
  );
  const touching = database.prepare<[number, number]>("UPDATE conversations SET updated_at = ? WHERE number = ?");
  const naming = database.prepare<[string, number, string, string]>(
    "UPDATE conversations SET title = ?, updated_at = ? WHERE scope = ? AND id = ?",
  );
  const deleting = database.prepare<[string, string]>("DELETE FROM conversations WHERE scope = ? AND id = ?");
  const described = `
    SELECT id, title, owner, created_at, updated_at,
      (SELECT COUNT(*) FROM exchanges WHERE conversation = number) AS exchanges,
      (SELECT COUNT(waiting) FROM exchanges WHERE conversation = number) AS waiting,
      (SELECT question FROM exchanges WHERE conversation = number ORDER BY position LIMIT 1) AS first_question
    FROM conversations WHERE scope = ?`;
  const listing = database.prepare<[string], InfoRow>(`${described} ORDER BY updated_at DESC, id`);
  const describing = database.prepare<[string, string], InfoRow>(`${described} AND id = ?`);
  const reading = database.prepare<[string, string], ExchangeRow>(
    `SELECT position, asked_at, question, answer, stopped, waiting FROM exchanges JOIN conversations ON conversation = number
     WHERE scope = ? AND id = ? ORDER BY position`,
  );
  const last = database.prepare<[number], { readonly position: number | null }>(
    "SELECT MAX(position) AS position FROM exchanges WHERE conversation = ?",
  );
  const inserting = database.prepare<[number, number, number, string]>(
    "INSERT INTO exchanges (conversation, position, asked_at, question) VALUES (?, ?, ?, ?)",
  );
  const keeping = (change: string, condition = "TRUE") =>
    database.prepare<[Keeping]>(
      `UPDATE exchanges SET ${change}
       WHERE conversation = (SELECT number FROM conversations WHERE scope = @scope AND id = @id) AND position = @position
         AND ${condition} AND (@resumed IS NULL OR waiting ->> '$.waiting.calls[0].approvalId' = @resumed)`,
    );
  const keepingWhole = keeping("answer = @answer, stopped = 0, waiting = NULL");
  const keepingStopped = keeping("answer = @answer, stopped = 1", "(answer IS NULL OR stopped)");
  const keepingWaiting = keeping("waiting = @answer, answer = iif(stopped, NULL, answer), stopped = 0");
  const copying = database.prepare<[number, number, number]>(
    `INSERT INTO exchanges (conversation, position, asked_at, question, answer, stopped)
     SELECT ?, position, asked_at, question, answer, stopped FROM exchanges WHERE conversation = ? AND position <= ?`,
  );
  const dropping = database.prepare<[number, number]>("DELETE FROM exchanges WHERE conversation = ? AND position > ?");
  const append = database.transaction((scope: string, id: string, question: string, owner?: string): number => {
    const now = Date.now();
    const found = finding.get(scope, id);
    if (found && owner !== undefined && found.owner !== owner) {
      throw new OptionsError(
        "options",
        `Conversation ${JSON.stringify(id)} belongs to another owner. Choose another id`,
      );
    }
    const number = found?.number ?? Number(creating.run(scope, id, owner ?? null, now, now).lastInsertRowid);
    if (found) touching.run(now, number);
    const position = (last.get(number)?.position ?? 0) + 1;
    inserting.run(number, position, now, question);
    checksums.saveExchange(number, position);
    return position;
  });
  const copy = database.transaction((scope: string, from: string, id: string, count: number) => {
    if (finding.get(scope, id)) {
      throw new OptionsError("options", `Conversation ${JSON.stringify(id)} already exists. Choose another id`);
    }
    const source = finding.get(scope, from);
    if (!source) return;
    const now = Date.now();
    const number = Number(creating.run(scope, id, source.owner, now, now).lastInsertRowid);
    copying.run(number, source.number, count);
    checksums.saveExchanges(number);
  });
  const truncate = database.transaction((scope: string, id: string, position: number) => {
    const found = finding.get(scope, id);
    if (found && dropping.run(found.number, position).changes > 0) checksums.saveExchanges(found.number);
  });
  /** Saves what became of a question. Returns whether it changed anything. */
  const keep = database.transaction((statement: ReturnType<typeof keeping>, kept: Keeping): boolean => {
    if (statement.run(kept).changes === 0) return false;
    checksums.saveExchange(finding.get(kept.scope, kept.id)!.number, kept.position);
    return true;
  });
  const rename = database.transaction((scope: string, id: string, title: string): boolean => {
    if (naming.run(title, Date.now(), scope, id).changes === 0) return false;
    checksums.saveConversation(finding.get(scope, id)!.number);
    return true;
  });
  const use = <Result>(work: () => Result): Result => {
    if (database.open) return guarded(path, work);
    throw new StoreError("closed", `The conversations at ${path} were closed. Open the knowledge base again`, { path });
  };
  const books = approvalBooks(database, checksums, use);
  return {
    of: (scope) => ({
      list: ({ owner } = {}) =>
        use(() => listing.all(scope).map(infoOf)).filter((info) => owner === undefined || info.owner === owner),
      info: (id) => use(() => describing.all(scope, id).map(infoOf)[0]),
      exchanges: (id) => use(() => reading.all(scope, id).map((row) => exchangeOf(row, path, books.decisions))),
      ask: (id, question, owner) => use(() => append.immediate(scope, id, question, owner)),
      answer: (id, position, answer, resumed) =>
        use(() => {
          const statement = "waiting" in answer ? keepingWaiting : answer.stopped ? keepingStopped : keepingWhole;
          const kept = { scope, id, position, resumed: resumed ?? null, answer: JSON.stringify(answer) };
          return keep.immediate(statement, kept);
        }),
      waiting: (id) => use(() => new Map(reading.all(scope, id).flatMap((row) => waitOf(row, path)))),
      approvals: (id) => use(() => books.book(finding.get(scope, id)?.number ?? null)),
      rename: (id, title) => use(() => rename.immediate(scope, id, title)),
      branch: (from, id, count) => use(() => copy.immediate(scope, from, id, count)),
      truncate: (id, position) => use(() => truncate.immediate(scope, id, position)),
      delete: (id) => use(() => deleting.run(scope, id).changes > 0),
    }),
    approvals: books.book(null),
    close: () => {
      database.close();
    },
  };
}

function prepare(database: Database, path: string): void {
  database
    .transaction(() => {
      const version = Number(database.pragma("user_version", { simple: true }));
      if (version > conversationsVersion) {
        throw new StoreError(
          "version",
          `${path} has version ${version}, this release writes ${conversationsVersion}. Update citewell`,
          { path },
        );
      }
      if (version === conversationsVersion) return;
      if (version < 2) database.exec(version === 0 ? tables : upgrade);
      if (version < 3) database.exec(waitingAnswers);
      if (version < 4) database.exec(checksumColumns);
      database.exec(exchangeChecksumColumns);
      new ConversationChecksums(database).saveAll();
      database.pragma(`user_version = ${conversationsVersion}`);
    })
    .immediate();
}

/** @throws OptionsError when the conversation is not that owner's. No owner given: anybody's will do. */
export function refuseOther(id: string, owner: string | undefined, actual: string | null | undefined): void {
  if (owner === undefined || owner === actual) return;
  throw new OptionsError("options", `Conversation ${JSON.stringify(id)} belongs to another owner. Choose another id`);
}

function infoOf({ title, owner, created_at, updated_at, waiting, first_question, ...info }: InfoRow): ConversationInfo {
  return {
    ...info,
    title: title ?? first_question ?? "",
    ...(owner !== null && { owner }),
    ...(waiting > 0 && { waiting: true }),
    createdAtMs: created_at,
    updatedAtMs: updated_at,
  };
}
