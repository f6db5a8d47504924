import { parentPort, workerData } from "node:worker_threads";
import { asStoreError, type Database, openDatabase, openForReading } from "../../sqlite/database.js";
import { serveCalls } from "../../thread/serve-calls.js";
import { type CheckCalls, checkDatabase, type CheckStart } from "./check-database.js";

// The checking thread: a connection of its own, for one check.

const { databasePath } = workerData as CheckStart;

/** In WAL mode a long snapshot does not block writers. A read-only file has none. */
function openSnapshot(): Database {
  try {
    return openDatabase(databasePath);
  } catch {
    return openForReading(databasePath);
  }
}

serveCalls<CheckCalls>(
  parentPort!,
  {
    check: async () => {
      try {
        const database = openSnapshot();
        try {
          database.pragma("query_only = ON");
          // One snapshot: a document that is being rewritten would have chunks of another text.
          database.exec("BEGIN");
          return await checkDatabase(database, databasePath);
        } finally {
          database.close();
        }
      } catch (error) {
        // Converted on this thread: on its way to another one, an error of SQLite loses its class.
        throw asStoreError(databasePath, error);
      }
    },
    close: () => {},
  },
  "close",
);
