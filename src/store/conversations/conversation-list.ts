import { conversationKey, type ConversationRow } from "./conversation-rows.js";
import { type Column, type ColumnEquals, rows, type Work } from "./work.js";

/** Summary of a conversation for lists. */
export interface ConversationInfo {
  /** The id that it was opened by. */
  readonly id: string;
  /** The name it was given, else its first question; empty while there is neither. */
  readonly title: string;
  /** Owner, as the application named it when the conversation began. */
  readonly owner?: string;
  /** The number of questions. */
  readonly exchanges: number;
  /** True when one of the answers waits for approval. */
  readonly waiting?: true;
  /** Time of its beginning and of its last question or new name, in milliseconds since 1970. */
  readonly createdAtMs: number;
  /** Time of its last question or new name, in milliseconds since 1970. */
  readonly updatedAtMs: number;
}

/** Selects conversations of a scope for a list. */
export interface ConversationPage {
  /** Only those of this owner. Default: all. */
  readonly owner?: string;
  /** Maximum number of them, 1 or more. Default: all. */
  readonly limit?: number;
  /**
   * The last one of the page before, as it was listed there. A page begins behind the place that it had then: whatever began or
   * was deleted meanwhile, each conversation that nobody changes is on one page. Default: the first page.
   */
  readonly after?: Pick<ConversationInfo, "id" | "updatedAtMs">;
}

interface InfoRow extends ConversationRow {
  readonly exchanges: number;
  readonly waits: number;
  readonly first_question: string | null;
}

const described = `
  SELECT conversations.*,
    (SELECT COUNT(*) FROM exchanges WHERE conversation = key) AS exchanges,
    (SELECT COUNT(waiting) FROM exchanges WHERE conversation = key) AS waits,
    (SELECT question FROM exchanges WHERE conversation = key ORDER BY position LIMIT 1) AS first_question
  FROM conversations`;

/**
 * The conversations of a scope, the one with the latest question first. An index has them in this order, so that a page costs
 * the same however many there are.
 */
export function* listConversations(
  scope: string,
  { owner, limit, after }: ConversationPage,
  equals: ColumnEquals,
): Work<readonly ConversationInfo[]> {
  const values: Column[] = [];
  const parameter = (value: Column) => `$${values.push(value)}`;
  const conditions = [equals("scope", parameter(scope))];
  if (owner !== undefined) conditions.push(equals("owner", parameter(owner.toWellFormed())));
  if (after) {
    const time = parameter(after.updatedAtMs);
    const key = parameter(conversationKey(scope, after.id.toWellFormed()));
    conditions.push(`(updated_at, key) < (${time}, ${key})`);
  }
  const order = `ORDER BY updated_at DESC, key DESC${limit === undefined ? "" : ` LIMIT ${parameter(limit)}`}`;
  const found = yield* rows<InfoRow>(`${described} WHERE ${conditions.join(" AND ")} ${order}`, ...values);
  return found.map(infoOf);
}

/** The summary of one conversation, by its key. */
export function* describeConversation(key: string): Work<ConversationInfo | undefined> {
  return (yield* rows<InfoRow>(`${described} WHERE key = $1`, key)).map(infoOf)[0];
}

function infoOf({ id, title, owner, exchanges, waits, ...row }: InfoRow): ConversationInfo {
  return {
    id,
    exchanges,
    title: title ?? row.first_question ?? "",
    ...(owner !== null && { owner }),
    ...(waits > 0 && { waiting: true }),
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}
