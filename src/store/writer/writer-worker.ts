import { parentPort, workerData } from "node:worker_threads";
import { StoreError } from "../../errors.js";
import { asStoreError, type Database, openDatabase } from "../../sqlite/database.js";
import { readPointer } from "../store-pointer.js";
import { StoreWriter } from "../store-writer.js";
import { serveCalls } from "../../thread/serve-calls.js";
import { WriteLock } from "../write-lock.js";
import { receivedWrite } from "./sent-write.js";
import type { WriterCalls, WriterStart } from "./writer-calls.js";

// The writer's thread: its own connection, and the right to write.

const { location, generation, databasePath, folder, space, dimension } = workerData as WriterStart;
const lock = new WriteLock(folder);
let database: Database | undefined;
let writer: StoreWriter | undefined;

function change<Result>(work: (writer: StoreWriter) => Result): Result {
  try {
    if (!lock.held) {
      lock.take();
      checkInUse();
    }
    database ??= openDatabase(databasePath);
    writer ??= new StoreWriter(database, { path: databasePath, space, dimension });
    return work(writer);
  } catch (error) {
    // Told from other errors here: on the other side of the thread it is an error of SQLite no longer.
    throw asStoreError(databasePath, error);
  }
}

/** What is written to a store that a migration has replaced would be seen by nobody. */
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
    write: (write) => change((changing) => changing.write(receivedWrite(write))),
    deleteDocuments: (uris) => change((changing) => changing.deleteDocuments(uris)),
    tryLock: () => lock.tryTake(),
    close: () => {
      try {
        // Here rather than on the thread of whoever closes last; passive: waits for no reader of another process.
        database?.pragma("wal_checkpoint(PASSIVE)");
      } finally {
        database?.close();
        lock.release();
      }
    },
  },
  "close",
);
