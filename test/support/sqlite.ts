import { loadSqlite } from "../../src/sqlite/database.js";

/** SQLite as the store loads it on this version of Node, for tests that look into its files. */
export const SQLite = loadSqlite();
