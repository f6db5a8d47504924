import { z } from "zod";
import { OptionsError, StoreError } from "../../core/errors.js";
import { type Database, guarded, openExclusiveDatabase } from "../../sqlite/database.js";
import { isForgotten, VideoTask } from "./video-task.js";

/** A task as it was found again. */
export interface KeptTask {
  readonly task: VideoTask;
  /** When the state began that the receiver of its callbacks was last told of; before all time where of none. */
  readonly toldSeconds: number;
}

/** Keeps the tasks of one service in a file, from one run of it to the next. */
export interface TaskDatabase {
  /** Current time of the service's clock, which continued meanwhile. */
  readonly startSeconds: number;
  /** Tasks of earlier runs, oldest first. */
  readonly kept: readonly KeptTask[];
  /** Adds a task, or replaces what is known of it. */
  readonly put: (task: VideoTask) => void;
  readonly remove: (ids: readonly string[]) => void;
  /** Remembers that a callback was sent. */
  readonly told: (id: string, sinceSeconds: number) => void;
  readonly close: () => void;
}

interface TaskRow {
  readonly task: string;
  readonly told_seconds: number | null;
}

interface ClockRow {
  readonly service_seconds: number;
  readonly wall_seconds: number;
  readonly time_scale: number;
}

/** Tells these files from others, in SQLite's own header field: "cwvt". */
const applicationId = 0x63_77_76_74;
const version = 1;
/** Time that an ending service has to release the file. */
const lockTimeoutMs = 250;

const schema = `
  CREATE TABLE tasks (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    told_seconds REAL
  );
  CREATE TABLE clock (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    service_seconds REAL NOT NULL,
    wall_seconds REAL NOT NULL,
    time_scale REAL NOT NULL
  );
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${version};
`;

/**
 * Opens the file, or makes it.
 *
 * @param timeScale how fast the service's time runs from now on.
 * @throws {StoreError} `locked` while another service has it, `damaged` when it is not sound, `version` when a newer
 * version wrote it.
 * @throws {OptionsError} when it holds something else, or cannot be made.
 */
export function openTaskDatabase(path: string, timeScale: number): TaskDatabase {
  let database: Database | undefined;
  try {
    database = openExclusiveDatabase(path, lockTimeoutMs);
    return guarded(path, () => prepared(database!, path, timeScale));
  } catch (error) {
    database?.close();
    throw explained(error, path);
  }
}

function prepared(database: Database, path: string, timeScale: number): TaskDatabase {
  check(database, path);
  // Writes survive any end of the process without waiting for the disk at every request: a power cut
  // may lose the last of it, and nothing before.
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  const wallSeconds = Date.now() / 1000;
  const found = database
    .prepare<[], TaskRow>("SELECT task, told_seconds FROM tasks ORDER BY position")
    .all()
    .map(({ task, told_seconds: told }) => ({
      task: VideoTask.parse(JSON.parse(task)),
      toldSeconds: told ?? Number.NEGATIVE_INFINITY,
    }));
  const clock = database.prepare<[], ClockRow>("SELECT service_seconds, wall_seconds, time_scale FROM clock").get();
  const latest = found.reduce(
    (seconds, { task }) => Math.max(seconds, task.createdSeconds, task.cancelledSeconds ?? 0),
    0,
  );
  // A wall clock that was set back does not turn the service's time back.
  const reached =
    clock === undefined
      ? wallSeconds
      : Math.max(latest, clock.service_seconds + Math.max(0, wallSeconds - clock.wall_seconds) * clock.time_scale);
  const kept = found.filter(({ task }) => !isForgotten(task, reached));
  // With nothing left to agree with, time that ran ahead of the wall clock begins anew.
  const startSeconds = kept.length === 0 ? wallSeconds : reached;
  database
    .prepare<[number, number, number]>("REPLACE INTO clock VALUES (1, ?, ?, ?)")
    .run(startSeconds, wallSeconds, timeScale);
  const put = database.prepare<[string, string]>(
    "INSERT INTO tasks (id, task) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET task = excluded.task",
  );
  const remove = database.prepare<[string]>("DELETE FROM tasks WHERE id = ?");
  const removeAll = database.transaction((ids: readonly string[]) => {
    for (const id of ids) remove.run(id);
  });
  const told = database.prepare<[number, string]>("UPDATE tasks SET told_seconds = ? WHERE id = ?");
  removeAll(found.filter(({ task }) => isForgotten(task, reached)).map(({ task }) => task.id));
  return {
    startSeconds,
    kept,
    put: (task) => void put.run(task.id, JSON.stringify(task)),
    remove: removeAll,
    told: (id, sinceSeconds) => void told.run(sinceSeconds, id),
    close: () => void database.close(),
  };
}

/** Makes the tables in an empty file; in any other, they must be there and sound. */
function check(database: Database, path: string): void {
  const number = (pragma: string) => Number(database.pragma(pragma, { simple: true }));
  if (number("schema_version") === 0) {
    database.transaction(() => database.exec(schema))();
    return;
  }
  if (number("application_id") !== applicationId) {
    throw new OptionsError("config", `${path} is a database of something else: name another file for the video tasks`);
  }
  if (number("user_version") > version) {
    throw new StoreError(
      "version",
      `${path} was written by a newer version of citewell: update, or name another file`,
      {
        path,
      },
    );
  }
  const found = String(database.pragma("quick_check(1)", { simple: true }));
  if (found !== "ok") throw damaged(path, found);
}

function damaged(path: string, reason: string, cause?: unknown): StoreError {
  return new StoreError(
    "damaged",
    `${path} is not a sound file of video tasks (${reason}). Restore it from a backup, or delete it: its tasks are gone then`,
    { cause, path },
  );
}

function explained(error: unknown, path: string): unknown {
  if (error instanceof StoreError && error.code === "locked") {
    return new StoreError("locked", `${path} is in use by another service: stop that one, or name another file`, {
      cause: error.cause,
      path,
    });
  }
  if (error instanceof StoreError && error.code === "damaged" && error.cause instanceof Error) {
    return damaged(path, error.cause.message, error.cause);
  }
  if (error instanceof StoreError || error instanceof OptionsError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof SyntaxError || error instanceof z.ZodError)
    return damaged(path, "a task in it cannot be read", error);
  return new OptionsError("config", `Video tasks cannot be kept in ${path}: ${reason}`, { cause: error });
}
