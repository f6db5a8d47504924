import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import type { Conversations } from "../../src/store/conversations/conversations.js";
import { keepsConversations } from "../../src/store/conversations/keeps-conversations.js";
import { openConversations } from "../../src/store/conversations/embedded-conversations.js";
import { openPostgresStore, storedPostgresSpace } from "../../src/store/postgres/open-postgres-store.js";
import { noPostgres, type PostgresServer, startPostgres } from "./postgres-server.js";
import { SQLite } from "./sqlite.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Where a knowledge base and its conversations can be kept. */
export interface ConversationHome {
  /** A new place for a knowledge base: a folder, or the address of a database. */
  readonly newPlace: () => Promise<string>;
  /** The conversations there, without a knowledge base. */
  readonly open: (place: string) => Promise<Pick<Conversations, "of"> & { readonly close: () => Promise<void> }>;
  /** Runs a statement behind the back of whoever keeps the conversations. */
  readonly query: (place: string, statement: string) => Promise<readonly object[]>;
}

const folder: ConversationHome = {
  newPlace: async () => join(await temporaryFolder(), "store"),
  open: async (place) => {
    const kept = openConversations(place);
    return { ...kept, close: async () => kept.close() };
  },
  query: async (place, statement) => {
    const database = new SQLite(join(place, "conversations.sqlite"));
    try {
      if (statement.startsWith("SELECT")) return database.prepare<[], object>(statement).all();
      database.exec(statement);
      return [];
    } finally {
      database.close();
    }
  },
};

const database = (server: () => PostgresServer): ConversationHome => {
  let made = 0;
  return {
    newPlace: () => server().createDatabase(`home${++made}`),
    open: async (place) => {
      const space = (await storedPostgresSpace(place).catch(() => undefined)) ?? "made";
      const store = await openPostgresStore(place, { space });
      if (!keepsConversations(store)) throw new Error("The store keeps no conversations");
      const kept = store.conversations();
      const close = async () => {
        kept.close();
        await store.close();
      };
      return { ...kept, close };
    },
    query: async (place, statement) => {
      const client = new pg.Client(place);
      await client.connect();
      try {
        await client.query("SET search_path TO citewell, public");
        return (await client.query<object>(statement)).rows;
      } finally {
        await client.end();
      }
    },
  };
};

/** Runs the same tests on conversations in a folder, and in PostgreSQL where it is installed. */
export function inEachHome(tests: (home: ConversationHome) => void): void {
  describe("in a folder", () => {
    tests(folder);
  });
  describe.skipIf(noPostgres)("in PostgreSQL", () => {
    let server: PostgresServer | undefined;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server?.remove());
    tests(database(() => server!));
  });
}
