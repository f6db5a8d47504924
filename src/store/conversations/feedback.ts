import type { ConversationRow, ExchangeRow } from "./conversation-rows.js";
import { exchangeOf, type StoredAnswer, type StoredFeedback } from "./stored-exchange.js";
import { type Column, type ColumnEquals, rows, type Work } from "./work.js";

/** Selects ratings of answers. */
export interface FeedbackSelection {
  /** Only those of conversations of this owner. Default: all. */
  readonly owner?: string;
  /** Only good ones, or only bad ones. Default: both. */
  readonly rating?: StoredFeedback["rating"];
}

/** A rated answer with its question. */
export interface RatedAnswer {
  /** The id of the conversation. */
  readonly conversation: string;
  /** Owner of the conversation. */
  readonly owner?: string;
  /** Position of the question in its conversation, from 1. */
  readonly position: number;
  /** The question as it was asked. */
  readonly question: string;
  /** The answer that was rated. */
  readonly answer: StoredAnswer;
  /** The rating, with its note if there is one. */
  readonly feedback: StoredFeedback;
}

interface RatedRow extends ExchangeRow {
  readonly conversation_id: ConversationRow["id"];
  readonly conversation_owner: ConversationRow["owner"];
}

/**
 * The rated answers of a scope, the latest rating first. A rating is part of the answer's JSON, so that a store of an earlier
 * version needs no other tables; finding all of them reads every answer once.
 */
export function* findFeedback(
  scope: string,
  { owner, rating }: FeedbackSelection,
  location: string,
  equals: ColumnEquals,
): Work<readonly RatedAnswer[]> {
  const values: Column[] = [];
  const parameter = (value: Column) => `$${values.push(value)}`;
  const conditions = [equals("scope", parameter(scope))];
  if (owner !== undefined) conditions.push(equals("owner", parameter(owner.toWellFormed())));
  const found = yield* rows<RatedRow>(
    `SELECT exchanges.*,
       (SELECT id FROM conversations WHERE key = conversation) AS conversation_id,
       (SELECT owner FROM conversations WHERE key = conversation) AS conversation_owner
     FROM exchanges
     WHERE conversation IN (SELECT key FROM conversations WHERE ${conditions.join(" AND ")})
       AND answer LIKE ${parameter('%"feedback":{"rating":%')}`,
    ...values,
  );
  return found
    .flatMap((row) => ratedAnswer(row, location))
    .filter(({ feedback }) => rating === undefined || feedback.rating === rating)
    .toSorted((one, other) => other.feedback.givenAtMs - one.feedback.givenAtMs);
}

function ratedAnswer(row: RatedRow, location: string): RatedAnswer[] {
  const { position, question, answer, feedback } = exchangeOf(row, location, new Map());
  // An answer may itself hold the words that the statement looks for.
  if (!answer || !feedback) return [];
  const owner = row.conversation_owner;
  return [
    {
      conversation: row.conversation_id,
      ...(owner !== null && { owner }),
      position,
      question,
      answer,
      feedback,
    },
  ];
}

/** The JSON of an answer with another rating, or without one. */
export function withFeedback(answerJson: string, feedback: StoredFeedback | undefined): string {
  if (!feedback && !answerJson.includes('"feedback":')) return answerJson;
  const { feedback: _before, ...answer } = JSON.parse(answerJson) as Record<string, unknown>;
  return JSON.stringify({ ...answer, ...(feedback && { feedback }) });
}
