import { conversationTables } from "../conversations/conversation-rows.js";
import { type Conversations, conversationsIn } from "../conversations/conversations.js";
import type { ColumnEquals, Work } from "../conversations/work.js";
import { texts } from "../../postgres/binary-parameters.js";
import { columnText, originalText } from "../../postgres/column-text.js";
import { withSettings } from "../../postgres/local-settings.js";
import type { Server, Session } from "../../postgres/server.js";
import { conversationsSetting } from "./row-level-security.js";

/** Scopes are filters of any length, which only an index of their hashes takes. */
export const conversationSchema = `${conversationTables}
  CREATE INDEX conversations_by_scope ON conversations USING hash (scope);
`;

/**
 * Each list in its order: that of a scope, and that of an owner within it. Columns of their own rather than indexes of
 * expressions: behind a policy, PostgreSQL uses an index for conditions that leak nothing, such as numbers that are equal.
 */
export const conversationLists = `
  ALTER TABLE conversations
    ADD scope_hash bigint GENERATED ALWAYS AS (hashtextextended(scope, 0)) STORED,
    ADD owner_hash bigint GENERATED ALWAYS AS (hashtextextended(owner, 0)) STORED;
  DROP INDEX conversations_by_scope;
  CREATE INDEX conversations_by_time ON conversations (scope_hash, updated_at, key);
  CREATE INDEX conversations_of_owner ON conversations (scope_hash, owner_hash, updated_at, key);
`;

export const conversationEquals: ColumnEquals = (column, parameter) =>
  `${column}_hash = hashtextextended(${parameter}, 0) AND ${column} = ${parameter}`;

/** The conversations in a schema of a server. Closing them leaves the server to the store. */
export function postgresConversations(server: Server, schema: string, isSecured: boolean): Conversations {
  return conversationsIn({
    location: server.location,
    of: (scope) => ({
      read: (work) => {
        const reading = (session: Session) => workOn(session, work());
        return server.read(withSettings(isSecured ? { [conversationsSetting]: columnText(scope) } : {}, reading));
      },
      change: (keys, work) =>
        server.transaction(async (session) => {
          // A conversation that is new has no row to lock.
          await session.query(
            `SELECT set_config('${conversationsSetting}', $2, true), pg_advisory_xact_lock(hashtextextended(key, 0))
             FROM (SELECT unnest($1::text[]) AS key ORDER BY 1) AS keys`,
            [texts(keys.map((key) => columnText(`citewell conversation ${schema} ${key}`))), columnText(scope)],
          );
          return workOn(session, work());
        }),
    }),
    equals: conversationEquals,
    close: () => {},
  });
}

/** The result of work on the tables of conversations. */
export async function workOn<Result>(session: Session, work: Work<Result>): Promise<Result> {
  let step = work.next();
  while (step.done !== true) {
    const { text, values } = step.value;
    const written = values.map((value) => (typeof value === "string" ? columnText(value) : value));
    const found = await session.query<Record<string, unknown>>(text, written);
    step = work.next(found.map(withOriginalTexts));
  }
  return step.value;
}

function withOriginalTexts(row: Readonly<Record<string, unknown>>): object {
  const original = (value: unknown) => (typeof value === "string" ? originalText(value) : value);
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, original(value)]));
}
