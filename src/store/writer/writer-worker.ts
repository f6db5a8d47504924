import { parentPort, workerData } from "node:worker_threads";
import { StoreError } from "../../core/errors.js";
import { asStoreError, type Database, endWal, openDatabase } from "../../sqlite/database.js";
import { serveCalls } from "../../thread/serve-calls.js";
import { refuseLostFile } from "../database/file-identity.js";
import { readPointer } from "../database/store-pointer.js";
import { WriteLock } from "../database/write-lock.js";
import { StoreWriter } from "./store-writer.js";
import type { WriterCalls, WriterStart } from "./write-message.js";

// The writer's thread: a connection of its own, and the write lock.

/** A process that has just written keeps the lock for a moment in case it writes more; on this thread nobody waits for it. */
const maxWaitMs = 2000;

const { location, generation, databasePath, identity, folder, space, dimension } = workerData as WriterStart;
const lock = new WriteLock(folder);
let database: Database | undefined;
let writer: StoreWriter | undefined;

function change<Result>(work: (writer: StoreWriter) => Result): Result {
  try {
    refuseLostFile(databasePath, identity);
    if (!lock.held) {
      lock.take(maxWaitMs);
      checkInUse();
    }
    database ??= openDatabase(databasePath);
    writer ??= new StoreWriter(database, { path: databasePath, space, dimension });
    return work(writer);
  } catch (error) {
    // Converted on this thread: on its way to another one, an error of SQLite loses its class.
    throw asStoreError(databasePath, error);
  }
}

/** Refuses to write to a store that a migration has replaced, because nobody would see it. */
function checkInUse(): void {
  const { current, building } = readPointer(location);
  if (generation === current || generation === building) return;
  lock.release();
  throw new StoreError(
    "closed",
    `The store at ${location} was migrated since it was opened. Close it and open it again`,
    { path: location },
  );
}

serveCalls<WriterCalls>(
  parentPort!,
  {
    write: (write) => change((changing) => changing.write(write)),
    deleteDocuments: (uris) => change((changing) => changing.deleteDocuments(uris)),
    lock: () => change(() => {}),
    tryLock: () => lock.tryTake(),
    unlock: () => {
      lock.release();
    },
    close: () => {
      try {
        // Otherwise the last connection to close would do it, on the main thread. Passive: waits for no reader.
        database?.pragma("wal_checkpoint(PASSIVE)");
        if (database) endWal(database);
      } finally {
        database?.close();
        lock.release();
      }
    },
  },
  "close",
);
