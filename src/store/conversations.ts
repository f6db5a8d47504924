import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { OptionsError, StoreError } from "../core/errors.js";
import type { Citation, Turn } from "../core/types.js";
import { guarded, openDatabase, type Database } from "../sqlite/database.js";

/** What was answered, as far as it came. */
export interface StoredAnswer {
  /** The text as it was shown, with citations as `[1]`. */
  readonly text: string;
  /** The citations behind these numbers, in the order of the text. */
  readonly citations: readonly Citation[];
  /** The answer as the model is shown it later: without numbers, with the calls of tools. */
  readonly turn: Extract<Turn, { readonly role: "assistant" }>;
  /** True when it was stopped before its end; it is then as long as it had become. */
  readonly stopped: boolean;
}

/** A question of a conversation, with its answer if there is one. */
export interface StoredExchange {
  /** 1 is the first. */
  readonly position: number;
  /** The question as it was asked. */
  readonly question: string;
  /** Time of the question, in milliseconds since 1970. */
  readonly askedAtMs: number;
  /** Absent when the answer failed, its process ended, or it is still being made. */
  readonly answer?: StoredAnswer;
}

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
   * the place of a whole one.
   */
  readonly answer: (id: string, position: number, answer: StoredAnswer) => void;
  /** Gives a conversation a name. Returns whether it exists. */
  readonly rename: (id: string, title: string) => boolean;
  /**
   * Starts a conversation with the first `count` exchanges of another.
   *
   * @throws OptionsError when a conversation with that id exists.
   */
  readonly branch: (from: string, id: string, count: number) => void;
  /** Returns whether it existed. */
  readonly delete: (id: string) => boolean;
}

/** The conversations of a store, in a file of their own, so that neither they nor an ingest wait for each other. */
export interface Conversations {
  /** Those of the scope with this name; the empty name is that of no scope. */
  readonly of: (scope: string) => ScopedConversations;
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

const schemaVersion = 2;
const cacheBytes = 1_000_000;

const Exchange = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  result: z.union([z.object({ content: z.string() }), z.object({ error: z.string() })]),
});
const Answer = z.object({
  text: z.string(),
  citations: z.array(z.custom<Citation>((value) => typeof (value as Citation | null)?.number === "number")),
  turn: z.object({ role: z.literal("assistant"), text: z.string(), tools: z.array(Exchange).exactOptional() }),
});

interface Row {
  readonly position: number;
  readonly asked_at: number;
  readonly question: string;
  readonly answer: string | null;
  readonly stopped: number;
}

interface InfoRow {
  readonly id: string;
  readonly title: string | null;
  readonly owner: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly exchanges: number;
  readonly first_question: string | null;
}

/**
 * Opens `conversations.sqlite` in a store's folder.
 *
 * @throws StoreError `damaged`, `locked`, or `version` when a newer release wrote it.
 */
export function openConversations(folder: string): Conversations {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "conversations.sqlite");
  const database = openDatabase(path, cacheBytes);
  try {
    guarded(path, () => prepare(database, path));
  } catch (error) {
    database.close();
    throw error;
  }
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
      (SELECT question FROM exchanges WHERE conversation = number ORDER BY position LIMIT 1) AS first_question
    FROM conversations WHERE scope = ?`;
  const listing = database.prepare<[string], InfoRow>(`${described} ORDER BY updated_at DESC, id`);
  const describing = database.prepare<[string, string], InfoRow>(`${described} AND id = ?`);
  const reading = database.prepare<[string, string], Row>(
    `SELECT position, asked_at, question, answer, stopped FROM exchanges JOIN conversations ON conversation = number
     WHERE scope = ? AND id = ? ORDER BY position`,
  );
  const last = database.prepare<[number], { readonly position: number | null }>(
    "SELECT MAX(position) AS position FROM exchanges WHERE conversation = ?",
  );
  const inserting = database.prepare<[number, number, number, string]>(
    "INSERT INTO exchanges (conversation, position, asked_at, question) VALUES (?, ?, ?, ?)",
  );
  const answering = database.prepare<[string, number, string, string, number, number]>(
    `UPDATE exchanges SET answer = ?, stopped = ?
     WHERE conversation = (SELECT number FROM conversations WHERE scope = ? AND id = ?) AND position = ?
       AND (answer IS NULL OR stopped OR NOT ?)`,
  );
  const copying = database.prepare<[number, number, number]>(
    `INSERT INTO exchanges (conversation, position, asked_at, question, answer, stopped)
     SELECT ?, position, asked_at, question, answer, stopped FROM exchanges WHERE conversation = ? AND position <= ?`,
  );
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
    return position;
  });
  const copy = database.transaction((scope: string, from: string, id: string, count: number) => {
    if (finding.get(scope, id)) {
      throw new OptionsError("options", `Conversation ${JSON.stringify(id)} already exists. Choose another id`);
    }
    const source = finding.get(scope, from);
    if (!source) return;
    const now = Date.now();
    copying.run(Number(creating.run(scope, id, source.owner, now, now).lastInsertRowid), source.number, count);
  });
  const use = <Result>(work: () => Result): Result => {
    if (database.open) return guarded(path, work);
    throw new StoreError("closed", `The conversations at ${path} were closed. Open the knowledge base again`, { path });
  };
  return {
    of: (scope) => ({
      list: ({ owner } = {}) =>
        use(() => listing.all(scope).map(infoOf)).filter((info) => owner === undefined || info.owner === owner),
      info: (id) => use(() => describing.all(scope, id).map(infoOf)[0]),
      exchanges: (id) => use(() => reading.all(scope, id).map((row) => exchangeOf(row, path))),
      ask: (id, question, owner) => use(() => append.immediate(scope, id, question, owner)),
      answer: (id, position, { stopped, ...answer }) =>
        use(() => {
          const flag = stopped ? 1 : 0;
          answering.run(JSON.stringify(answer), flag, scope, id, position, flag);
        }),
      rename: (id, title) => use(() => naming.run(title, Date.now(), scope, id).changes > 0),
      branch: (from, id, count) => use(() => copy.immediate(scope, from, id, count)),
      delete: (id) => use(() => deleting.run(scope, id).changes > 0),
    }),
    close: () => {
      database.close();
    },
  };
}

function prepare(database: Database, path: string): void {
  database
    .transaction(() => {
      const version = Number(database.pragma("user_version", { simple: true }));
      if (version > schemaVersion) {
        throw new StoreError(
          "version",
          `${path} has version ${version}, this release writes ${schemaVersion}. Update citewell`,
          { path },
        );
      }
      if (version === schemaVersion) return;
      database.exec(version === 0 ? tables : upgrade);
      database.pragma(`user_version = ${schemaVersion}`);
    })
    .immediate();
}

/** @throws OptionsError when the conversation is not that owner's. No owner given: anybody's will do. */
export function refuseOther(id: string, owner: string | undefined, actual: string | null | undefined): void {
  if (owner === undefined || owner === actual) return;
  throw new OptionsError("options", `Conversation ${JSON.stringify(id)} belongs to another owner. Choose another id`);
}

function infoOf({ id, title, owner, created_at, updated_at, exchanges, first_question }: InfoRow): ConversationInfo {
  return {
    id,
    title: title ?? first_question ?? "",
    ...(owner !== null && { owner }),
    exchanges,
    createdAtMs: created_at,
    updatedAtMs: updated_at,
  };
}

function exchangeOf({ position, asked_at: askedAtMs, question, answer, stopped }: Row, path: string): StoredExchange {
  if (answer === null) return { position, question, askedAtMs };
  const parsed = Answer.safeParse(JSON.parse(answer));
  if (!parsed.success) {
    throw new StoreError("damaged", `${path} holds an invalid answer: ${parsed.error.message}`, {
      path,
      cause: parsed.error,
    });
  }
  return { position, question, askedAtMs, answer: { ...parsed.data, stopped: stopped !== 0 } };
}
