import type { ApprovalBook } from "../../core/approval.js";
import { OptionsError, StoreError } from "../../core/errors.js";
import { approvalBook, findDecisions } from "./approvals.js";
import {
  type ConversationInfo,
  type ConversationPage,
  describeConversation,
  listConversations,
} from "./conversation-list.js";
import {
  conversationKey,
  type ConversationRow,
  type ExchangeRow,
  save,
  saveExchanges,
  sumOfChecksums,
} from "./conversation-rows.js";
import { type FeedbackSelection, findFeedback, type RatedAnswer, withFeedback } from "./feedback.js";
import {
  type AnswerFeedback,
  type AnswerToResume,
  exchangeOf,
  type StoredAnswer,
  type StoredExchange,
  waitOf,
} from "./stored-exchange.js";
import { type ConversationDatabase, type ConversationRunner, rows, type Work } from "./work.js";

/** Selects a conversation of a scope. */
export interface WhichConversation {
  readonly id: string;
  /** Owner that it must have, or the call is refused. Default: it may have any. */
  readonly owner?: string | undefined;
}

/**
 * The conversations of one scope: those of another with the same ids are others, and cannot be reached from here. All
 * methods reject with an `OptionsError` when the conversation has another owner.
 */
export interface ScopedConversations {
  /** Lists conversations, the one with the latest question first, a page at a time where `limit` says so. */
  readonly list: (page?: ConversationPage) => Promise<readonly ConversationInfo[]>;
  /** `undefined` when there is none of that id. */
  readonly info: (which: WhichConversation) => Promise<ConversationInfo | undefined>;
  readonly exchanges: (which: WhichConversation) => Promise<readonly StoredExchange[]>;
  /** Appends a question to a conversation, which is created if it is new. Returns the question's position. */
  readonly ask: (which: WhichConversation, question: string) => Promise<number>;
  /**
   * Saves the answer to a question, unless the conversation was deleted in the meantime. One that was stopped never takes
   * the place of a whole one, and leaves what waits; a whole one is what waited.
   *
   * @param resumed id of a call that must still be waiting, or nothing is saved.
   * @returns whether it was saved.
   */
  readonly answer: (
    which: WhichConversation,
    position: number,
    answer: StoredAnswer | AnswerToResume,
    resumed?: string,
  ) => Promise<boolean>;
  /** The answers that wait, by the position of their questions. */
  readonly waiting: (which: WhichConversation) => Promise<ReadonlyMap<number, AnswerToResume>>;
  /** The book of decisions on calls of a conversation; without one, on calls outside of conversations. */
  readonly approvals: (which?: WhichConversation) => ApprovalBook;
  /** Rates the answer to a question; without a rating, takes the earlier one back. Returns whether there is an answer. */
  readonly rate: (which: WhichConversation, position: number, feedback?: AnswerFeedback) => Promise<boolean>;
  /** The rated answers, the latest rating first. */
  readonly feedback: (selection?: FeedbackSelection) => Promise<readonly RatedAnswer[]>;
  /** Gives a conversation a name. Returns whether it exists. */
  readonly rename: (which: WhichConversation, title: string) => Promise<boolean>;
  /**
   * Starts a conversation with the first `count` exchanges of another.
   *
   * @throws OptionsError when a conversation with that id exists.
   */
  readonly branch: (from: WhichConversation, id: string, count: number) => Promise<void>;
  /** Deletes all exchanges but the first `count`. */
  readonly truncate: (which: WhichConversation, count: number) => Promise<void>;
  readonly delete: (which: WhichConversation) => Promise<void>;
}

/** The conversations of a store, beside its documents, so that neither they nor an ingest wait for each other. */
export interface Conversations {
  /** Conversations of a named scope; the empty name stands for no scope. */
  readonly of: (scope: string) => ScopedConversations;
  readonly close: () => void;
}

/** The conversations in a database. @internal */
export function conversationsIn(database: ConversationDatabase): Conversations {
  const { location, equals } = database;
  let isClosed = false;
  const refuseClosed = () => {
    if (!isClosed) return;
    const message = `The conversations at ${location} were closed. Open the knowledge base again`;
    throw new StoreError("closed", message, { path: location });
  };
  return {
    of: (given) => {
      const scope = given.toWellFormed();
      const { read, change } = database.of(scope);
      const runner: ConversationRunner = {
        read: async (work) => {
          refuseClosed();
          return read(work);
        },
        change: async (keys, work) => {
          refuseClosed();
          return change(keys, work);
        },
      };
      return scopedConversations(runner, scope, { location, equals });
    },
    close: () => {
      if (!isClosed) database.close();
      isClosed = true;
    },
  };
}

const inOrder = "SELECT * FROM exchanges WHERE conversation = $1 ORDER BY position";

function scopedConversations(
  { read, change }: ConversationRunner,
  scope: string,
  { location, equals }: Pick<ConversationDatabase, "location" | "equals">,
): ScopedConversations {
  const keyOf = (id: string) => conversationKey(scope, id.toWellFormed());
  const exchangesOf = ({ id }: WhichConversation) => rows<ExchangeRow>(inOrder, keyOf(id));

  function* find({ id, owner }: WhichConversation): Work<ConversationRow | undefined> {
    const [found] = yield* rows<ConversationRow>("SELECT * FROM conversations WHERE key = $1", keyOf(id));
    if (found && owner !== undefined && found.owner !== owner.toWellFormed()) throw belongsToAnother(id);
    return found;
  }

  function created({ id, owner }: WhichConversation, now: number) {
    const wellFormed = { id: id.toWellFormed(), owner: owner?.toWellFormed() ?? null };
    const times = { created_at: now, updated_at: now };
    return { key: keyOf(id), scope, ...wellFormed, title: null, ...times, exchange_checksums: 0 };
  }

  /** Changes a conversation that exists, alone. */
  const changeOne = <Result>(
    which: WhichConversation,
    otherwise: Result,
    work: (found: ConversationRow) => Work<Result>,
  ): Promise<Result> =>
    change([keyOf(which.id)], function* () {
      const found = yield* find(which);
      return found ? yield* work(found) : otherwise;
    });

  return {
    list: (page = {}) => read(() => listConversations(scope, page, equals)),
    info: (which) =>
      read(function* () {
        if (!(yield* find(which))) return undefined;
        return yield* describeConversation(keyOf(which.id));
      }),
    exchanges: (which) =>
      read(function* () {
        if (!(yield* find(which))) return [];
        const found = yield* exchangesOf(which);
        const waits = found.flatMap((row) => waitOf(row, location));
        const ids = waits.flatMap(([, { waiting }]) => waiting.calls.map(({ approvalId }) => approvalId));
        const decisions = yield* findDecisions(ids);
        return found.map((row) => exchangeOf(row, location, decisions));
      }),
    ask: (which, question) =>
      change([keyOf(which.id)], function* () {
        const now = Date.now();
        const conversation = { ...((yield* find(which)) ?? created(which, now)), updated_at: now };
        const [last] = yield* rows<{ position: number | null }>(
          "SELECT MAX(position) AS position FROM exchanges WHERE conversation = $1",
          conversation.key,
        );
        const position = (last?.position ?? 0) + 1;
        const asked = { conversation: conversation.key, position, scope, asked_at: now };
        const unanswered = { question: question.toWellFormed(), answer: null, stopped: 0, waiting: null };
        yield* saveExchanges(conversation, [{ ...asked, ...unanswered }]);
        return position;
      }),
    answer: (which, position, answer, resumed) =>
      changeOne(which, false, function* (found) {
        const row = yield* exchangeAt(found, position);
        if (!row || (resumed !== undefined && !waitsFor(row, location, resumed))) return false;
        const kept = withAnswer(row, answer);
        if (!kept) return false;
        yield* saveExchanges(found, [kept], row.checksum);
        return true;
      }),
    waiting: (which) =>
      read(function* () {
        if (!(yield* find(which))) return new Map();
        return new Map((yield* exchangesOf(which)).flatMap((row) => waitOf(row, location)));
      }),
    rate: (which, position, feedback) =>
      changeOne(which, false, function* (found) {
        const row = yield* exchangeAt(found, position);
        if (!row || row.answer === null) return false;
        const note = feedback?.note?.toWellFormed();
        const given = feedback && {
          rating: feedback.rating,
          ...(note !== undefined && { note }),
          givenAtMs: Date.now(),
        };
        yield* saveExchanges(found, [{ ...row, answer: withFeedback(row.answer, given) }], row.checksum);
        return true;
      }),
    feedback: (selection = {}) => read(() => findFeedback(scope, selection, location, equals)),
    approvals: (which) => approvalBook({ read, change }, scope, which ? keyOf(which.id) : null),
    rename: (which, title) =>
      changeOne(which, false, function* (found) {
        yield* save("conversations", [{ ...found, title: title.toWellFormed(), updated_at: Date.now() }]);
        return true;
      }),
    branch: (from, id, count) =>
      change([keyOf(from.id), keyOf(id)], function* () {
        if (yield* find({ id })) {
          throw new OptionsError("options", `Conversation ${JSON.stringify(id)} already exists. Choose another id`);
        }
        const source = yield* find(from);
        if (!source) return;
        const branched = { ...created({ id }, Date.now()), owner: source.owner };
        const copied = (yield* exchangesOf(from)).slice(0, count);
        yield* saveExchanges(
          branched,
          copied.map((row) => ({
            ...row,
            conversation: branched.key,
            waiting: null,
            // The rating was given once, where the answer was made.
            answer: row.answer === null ? null : withFeedback(row.answer, undefined),
          })),
        );
      }),
    truncate: (which, count) =>
      changeOne(which, undefined, function* (found) {
        const gone = (yield* exchangesOf(which)).slice(count);
        if (gone.length === 0) return;
        yield* rows("DELETE FROM exchanges WHERE conversation = $1 AND position >= $2", found.key, gone[0]!.position);
        yield* saveExchanges(found, [], sumOfChecksums(gone));
      }),
    delete: (which) =>
      changeOne(which, undefined, function* ({ key }) {
        yield* rows("DELETE FROM conversations WHERE key = $1", key);
      }),
  };
}

function* exchangeAt({ key }: ConversationRow, position: number): Work<ExchangeRow | undefined> {
  const where = "conversation = $1 AND position = $2";
  return (yield* rows<ExchangeRow>(`SELECT * FROM exchanges WHERE ${where}`, key, position))[0];
}

/** Whether the answer of a row waits for this call. */
function waitsFor(row: ExchangeRow, location: string, approvalId: string): boolean {
  return waitOf(row, location).some(([, { waiting }]) => waiting.calls[0]?.approvalId === approvalId);
}

/** An exchange with another answer, or `undefined` where what it has is better. */
function withAnswer(row: ExchangeRow, answer: StoredAnswer | AnswerToResume): ExchangeRow | undefined {
  const json = JSON.stringify(answer);
  if ("waiting" in answer) return { ...row, waiting: json, answer: row.stopped === 0 ? row.answer : null, stopped: 0 };
  if (!answer.stopped) return { ...row, waiting: null, answer: json, stopped: 0 };
  return row.answer === null || row.stopped !== 0 ? { ...row, answer: json, stopped: 1 } : undefined;
}

function belongsToAnother(id: string): OptionsError {
  return new OptionsError("options", `Conversation ${JSON.stringify(id)} belongs to another owner. Choose another id`);
}
