import { parentPort, workerData } from "node:worker_threads";
import { serveCalls } from "../../thread/serve-calls.js";
import { asStoreError, openDatabase } from "../../sqlite/database.js";
import { checkDatabase } from "./check-database.js";
import type { CheckCalls, CheckStart } from "./check-thread.js";

// The checking thread: a connection of its own, for one check.

const { databasePath } = workerData as CheckStart;

serveCalls<CheckCalls>(
  parentPort!,
  {
    check: async () => {
      try {
        const database = openDatabase(databasePath);
        try {
          database.pragma("query_only = ON");
          // All of one moment: a document that somebody writes meanwhile would have chunks of another one's text.
          database.exec("BEGIN");
          return await checkDatabase(database, databasePath);
        } finally {
          database.close();
        }
      } catch (error) {
        // Told from other errors here: on the other side of the thread it is an error of SQLite no longer.
        throw asStoreError(databasePath, error);
      }
    },
    close: () => {},
  },
  "close",
);
