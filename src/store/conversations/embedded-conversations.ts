import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { asError, StoreError } from "../../core/errors.js";
import type { StoreProblem } from "../../core/ports.js";
import { type Database, guarded, openDatabase, openForReading } from "../../sqlite/database.js";
import { fileIdentity, refuseLostFile } from "../database/file-identity.js";
import { findAltered, problemsOf, repairAltered } from "./checking.js";
import { conversationTables } from "./conversation-rows.js";
import { type Conversations, conversationsIn } from "./conversations.js";
import { conversationsVersion, upgradeConversations } from "./earlier-versions.js";
import type { Work } from "./work.js";

const cacheBytes = 1_000_000;

/** Each list in its order: that of a scope, and that of an owner within it. */
const listIndexes = `
  CREATE INDEX IF NOT EXISTS conversations_by_time ON conversations (scope, updated_at, key);
  CREATE INDEX IF NOT EXISTS conversations_of_owner ON conversations (scope, owner, updated_at, key);
  DROP INDEX IF EXISTS conversations_by_scope;
`;

function conversationsPath(folder: string): string {
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
  const identity = fileIdentity(path);
  return conversationsIn({
    location: path,
    of: () => ({
      read: async (work) => guarded(path, () => database.transaction(() => done(database, work())).deferred()),
      // SQLite has one writer at a time.
      change: async (_, work) => {
        refuseLostFile(path, identity);
        return guarded(path, () => database.transaction(() => done(database, work())).immediate());
      },
    }),
    equals: (column, parameter) => `${column} = ${parameter}`,
    close: () => {
      database.close();
    },
  });
}

/** The problems of the conversations in a store's folder. A file of an earlier version is upgraded before it is checked. */
export function conversationProblems(folder: string): StoreProblem[] {
  const path = conversationsPath(folder);
  if (!existsSync(path)) return [];
  try {
    return withDatabase(openForReading, path, (database) => {
      const broken = database.pragma("integrity_check(10)") as readonly { readonly integrity_check: string }[];
      const found = broken.filter(({ integrity_check: result }) => result !== "ok");
      if (found.length > 0) return found.map(({ integrity_check: result }) => unrepairable(`${path}: ${result}`));
      if (versionOf(database) !== conversationsVersion) return [];
      return problemsOf(database.transaction(() => done(database, findAltered())).deferred());
    });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "damaged")) throw error;
    return [unrepairable(asError(error).message)];
  }
}

function unrepairable(message: string): StoreProblem {
  return { what: "conversations", message, repairable: false };
}

/** Makes what was altered sound again, in one transaction. */
export function repairConversations(folder: string): void {
  withDatabase(openDatabase, conversationsPath(folder), (database) => {
    database.transaction(() => done(database, repairAltered())).immediate();
  });
}

/** Result of work that runs synchronously. */
function done<Result>(database: Database, work: Work<Result>): Result {
  let step = work.next();
  while (step.done !== true) {
    const { text, values } = step.value;
    const statement = database.prepare<[object], object>(text);
    const named = Object.fromEntries(values.map((value, index) => [index + 1, value]));
    if (statement.reader) step = work.next(statement.all(named));
    else {
      statement.run(named);
      step = work.next([]);
    }
  }
  return step.value;
}

function versionOf(database: Database): number {
  return Number(database.pragma("user_version", { simple: true }));
}

function prepare(database: Database, path: string): void {
  const upgrading = database.transaction(() => {
    const version = versionOf(database);
    if (version > conversationsVersion) {
      throw new StoreError(
        "version",
        `${path} has version ${version}, this release writes ${conversationsVersion}. Update citewell`,
        { path },
      );
    }
    if (version === 0) database.exec(conversationTables);
    else if (version < conversationsVersion) upgradeConversations(database, version, (work) => done(database, work));
    // Releases before know the same tables without these indexes, and go on using them.
    database.exec(listIndexes);
    if (version !== conversationsVersion) database.pragma(`user_version = ${conversationsVersion}`);
  });
  upgrading.immediate();
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
