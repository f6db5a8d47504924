import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { OptionsError, StoreError } from "../core/errors.js";
import type { Turn } from "../core/types.js";
import { guarded, openDatabase, type Database } from "../sqlite/database.js";

/** A question of a conversation, with its answer if there is one. */
export interface StoredExchange {
  /** 1 is the first. */
  readonly position: number;
  readonly question: string;
  /** Absent when the answer failed, was stopped, or is still being generated. */
  readonly answer?: Extract<Turn, { readonly role: "assistant" }>;
  /** Time of the question, in milliseconds since 1970. */
  readonly askedAtMs: number;
}

export interface ConversationInfo {
  readonly id: string;
  /** The first question; empty while there is none. */
  readonly title: string;
  readonly exchanges: number;
}

/** The conversations of a store, in a file of their own, so that neither they nor an ingest wait for each other. */
export interface Conversations {
  readonly list: () => readonly ConversationInfo[];
  readonly exchanges: (id: string) => readonly StoredExchange[];
  /** Appends a question to a conversation, which is created if it is new. Returns the question's position. */
  readonly ask: (id: string, question: string) => number;
  /** Saves the answer to a question, unless the conversation was deleted in the meantime. */
  readonly answer: (id: string, position: number, answer: Extract<Turn, { readonly role: "assistant" }>) => void;
  /**
   * Starts a conversation with the first `count` exchanges of another.
   *
   * @throws OptionsError when a conversation with that id exists.
   */
  readonly branch: (from: string, id: string, count: number) => void;
  /** Returns whether it existed. */
  readonly delete: (id: string) => boolean;
  readonly close: () => void;
}

const tables = `
  CREATE TABLE IF NOT EXISTS exchanges (
    conversation TEXT NOT NULL,
    position INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    question TEXT NOT NULL,
    answer TEXT,
    PRIMARY KEY (conversation, position)
  ) WITHOUT ROWID;
`;

const schemaVersion = 1;
const cacheBytes = 1_000_000;

const Exchange = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  result: z.union([z.object({ content: z.string() }), z.object({ error: z.string() })]),
});
const StoredAnswer = z.object({
  role: z.literal("assistant"),
  text: z.string(),
  tools: z.array(Exchange).exactOptional(),
});

interface Row {
  readonly position: number;
  readonly asked_at: number;
  readonly question: string;
  readonly answer: string | null;
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
  const reading = database.prepare<[string], Row>(
    "SELECT position, asked_at, question, answer FROM exchanges WHERE conversation = ? ORDER BY position",
  );
  const last = database.prepare<[string], { readonly position: number | null }>(
    "SELECT MAX(position) AS position FROM exchanges WHERE conversation = ?",
  );
  const inserting = database.prepare<[string, number, number, string]>(
    "INSERT INTO exchanges (conversation, position, asked_at, question) VALUES (?, ?, ?, ?)",
  );
  const answering = database.prepare<[string, string, number]>(
    "UPDATE exchanges SET answer = ? WHERE conversation = ? AND position = ?",
  );
  const deleting = database.prepare<[string]>("DELETE FROM exchanges WHERE conversation = ?");
  const copying = database.prepare<[string, string, number]>(
    `INSERT INTO exchanges (conversation, position, asked_at, question, answer)
     SELECT ?, position, asked_at, question, answer FROM exchanges WHERE conversation = ? AND position <= ?`,
  );
  const listing = database.prepare<[], { readonly id: string; readonly exchanges: number; readonly title: string }>(
    `SELECT conversation AS id, COUNT(*) AS exchanges,
       (SELECT question FROM exchanges AS first WHERE first.conversation = exchanges.conversation
        ORDER BY position LIMIT 1) AS title
     FROM exchanges GROUP BY conversation ORDER BY MAX(asked_at) DESC, conversation`,
  );
  const append = database.transaction((id: string, question: string): number => {
    const position = (last.get(id)?.position ?? 0) + 1;
    inserting.run(id, position, Date.now(), question);
    return position;
  });
  const copy = database.transaction((from: string, id: string, count: number) => {
    if (typeof last.get(id)?.position === "number") {
      throw new OptionsError("options", `Conversation ${JSON.stringify(id)} already exists. Choose another id`);
    }
    copying.run(id, from, count);
  });
  const use = <Result>(work: () => Result): Result => {
    if (database.open) return guarded(path, work);
    throw new StoreError("closed", `The conversations at ${path} were closed. Open the knowledge base again`, { path });
  };
  return {
    list: () => use(() => listing.all()),
    exchanges: (id) => use(() => reading.all(id).map((row) => exchangeOf(row, path))),
    ask: (id, question) => use(() => append.immediate(id, question)),
    answer: (id, position, turn) =>
      use(() => {
        answering.run(JSON.stringify(turn), id, position);
      }),
    branch: (from, id, count) => use(() => copy.immediate(from, id, count)),
    delete: (id) => use(() => deleting.run(id).changes > 0),
    close: () => {
      database.close();
    },
  };
}

function prepare(database: Database, path: string): void {
  const version = Number(database.pragma("user_version", { simple: true }));
  if (version > schemaVersion) {
    throw new StoreError(
      "version",
      `${path} has version ${version}, this release writes ${schemaVersion}. Update citewell`,
      { path },
    );
  }
  database.exec(tables);
  if (version === 0) database.pragma(`user_version = ${schemaVersion}`);
}

function exchangeOf({ position, asked_at: askedAtMs, question, answer }: Row, path: string): StoredExchange {
  if (answer === null) return { position, question, askedAtMs };
  const parsed = StoredAnswer.safeParse(JSON.parse(answer));
  if (!parsed.success) {
    throw new StoreError("damaged", `${path} holds an invalid answer: ${parsed.error.message}`, {
      path,
      cause: parsed.error,
    });
  }
  return { position, question, askedAtMs, answer: parsed.data };
}
