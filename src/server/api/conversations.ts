import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Filter } from "../../core/filter.js";
import { given } from "../../core/given.js";
import type { AnswerEvent } from "../../core/types.js";
import type { Conversation } from "../../knowledge-base/conversation.js";
import type { AskOptions } from "../../knowledge-base/question-options.js";
import { type CallerSettings, choiceFields, chosenOptions } from "../choices.js";
import { Refusal } from "../guard/refusal.js";
import { imagesField, requireSeen } from "../question-images.js";
import { answerEvents } from "./answer-events.js";
import { checkApprovals } from "./approvals.js";
import { pageFields } from "./request-fields.js";
import { filterField, questionField } from "./questions.js";
import { type Reply, route, type RouteContext } from "./route.js";
import { type ConversationInfo, wireConversation, wireExchange } from "./to-wire.js";
import { WireConversation, type WireEvent, WireWholeConversation } from "./wire.js";

const id = z
  .string()
  .min(1)
  .max(200)
  .describe("Of the conversation")
  .meta({ examples: ["0b2f6f0e-6a2e-4d8e-9a55-0f5f3c1d2e3f"] });
/** Time and id of the last conversation of a page. */
const pageCursor = z
  .string()
  .regex(/^\d{1,15}-./s, "must be the next of another page")
  .transform((text) => {
    const end = text.indexOf("-");
    return { updatedAtMs: Number(text.slice(0, end)), id: text.slice(end + 1) };
  })
  .describe("The `next` of the page before")
  .meta({ examples: ["1750000000000-0b2f6f0e-6a2e-4d8e-9a55-0f5f3c1d2e3f"] });
const how = { filter: filterField, images: imagesField, ...choiceFields };
const asked = { question: questionField, ...how };

export const conversationRoutes = [
  route({
    method: "GET",
    path: "/api/conversations",
    operation: "listConversations",
    summary: "The conversations, those with the last question first, a page at a time",
    request: z.strictObject({
      limit: pageFields(1000).limit,
      after: pageCursor.optional(),
    }),
    reply: z.object({
      conversations: z.array(WireConversation),
      next: z.string().optional().describe("Send it as `after` for the next page; absent on the last one"),
    }),
    serve: async ({ limit, after }, { documents, access }) => {
      // One more than the page has tells whether another follows.
      const page = { limit: limit + 1, ...given({ owner: access.owner, after }) };
      const found = await documents.conversations(page);
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : undefined;
      return {
        json: {
          conversations: shown.map(wireConversation),
          ...(last && { next: `${last.updatedAtMs}-${last.id}` }),
        },
      };
    },
  }),
  route({
    method: "POST",
    path: "/api/conversations",
    operation: "beginConversation",
    summary: "Begin a conversation with a question; the first event has its id",
    request: z.strictObject(asked),
    reply: "events",
    serve({ question, ...asking }, context) {
      const conversation = openConversation(context, randomUUID());
      const options = optionsFor(context, asking);
      return startQuestion(context, conversation, { question, position: 1 }, (signal) =>
        conversation.ask(question, { ...options, signal }),
      );
    },
  }),
  route({
    method: "GET",
    path: "/api/conversations/{id}",
    operation: "getConversation",
    summary: "A conversation with its questions and answers",
    request: z.strictObject({ id }),
    reply: WireWholeConversation,
    async serve(fields, context) {
      const { conversation, info } = await existingConversation(context, fields.id);
      const running = context.answers.get(answerName(context, fields.id))?.isRunning ?? false;
      const history = (await conversation.exchanges()).map(wireExchange);
      return { json: { ...wireConversation(info), running, history } };
    },
  }),
  route({
    method: "PATCH",
    path: "/api/conversations/{id}",
    operation: "renameConversation",
    summary: "Give a conversation another title",
    request: z.strictObject({
      id,
      title: z
        .string()
        .regex(/\S/, "must not be blank")
        .max(500)
        .meta({ examples: ["Expiry of keys"] }),
    }),
    reply: WireConversation,
    async serve(fields, context) {
      const { conversation } = await existingConversation(context, fields.id);
      await conversation.rename(fields.title);
      return { json: wireConversation((await existingConversation(context, fields.id)).info) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/conversations/{id}",
    operation: "deleteConversation",
    summary: "Delete a conversation",
    request: z.strictObject({ id }),
    reply: "nothing",
    async serve(fields, context) {
      const { conversation } = await existingConversation(context, fields.id);
      context.answers.get(answerName(context, fields.id))?.stop();
      await conversation.delete();
      context.audit({ event: "deletion", conversation: fields.id });
      return { nothing: true };
    },
  }),
  route({
    method: "POST",
    path: "/api/conversations/{id}/questions",
    operation: "askInConversation",
    summary: "Ask the next question of a conversation",
    request: z.strictObject({ id, ...asked }),
    reply: "events",
    async serve({ id: which, question, ...asking }, context) {
      const { conversation, info } = await existingConversation(context, which);
      const options = optionsFor(context, asking);
      return startQuestion(context, conversation, { question, position: info.exchanges + 1 }, (signal) =>
        conversation.ask(question, { ...options, signal }),
      );
    },
  }),
  route({
    method: "POST",
    path: "/api/conversations/{id}/regenerate",
    operation: "regenerateAnswer",
    summary: "Answer the last question anew; the old answer stays until the new one is whole",
    request: z.strictObject({ id, ...how }),
    reply: "events",
    async serve({ id: which, ...asking }, context) {
      const { conversation } = await existingConversation(context, which);
      const options = optionsFor(context, asking);
      return startQuestion(context, conversation, (await conversation.exchanges()).at(-1), (signal) =>
        conversation.regenerate({ ...options, signal }),
      );
    },
  }),
  route({
    method: "POST",
    path: "/api/conversations/{id}/approvals",
    operation: "decideCalls",
    summary: "Allow or refuse calls that wait, and go on with their answer",
    request: z.strictObject({
      id,
      approvals: z
        .record(z.string(), z.boolean())
        .describe("By approvalId; with none, what was decided before holds")
        .meta({ examples: [{ "call-1": true }] }),
      ...choiceFields,
    }),
    reply: "events",
    async serve({ id: which, approvals, settings }, context) {
      const { conversation } = await existingConversation(context, which);
      checkApprovals(approvals, which, context);
      const { answer, chatModel } = chosenOptions(context.ask, context.choices, settings);
      const exchange = (await conversation.exchanges()).findLast(({ waiting }) => waiting);
      return start(context, conversation, exchange, (signal) =>
        conversation.resume(approvals, { signal, ...given({ answer, chatModel }) }),
      );
    },
  }),
  route({
    method: "POST",
    path: "/api/conversations/{id}/branch",
    operation: "branchConversation",
    summary: "Ask another question after the first exchanges of a conversation, in a new one",
    request: z.strictObject({
      id,
      exchanges: z
        .int()
        .min(0)
        .describe("How many of them stay")
        .meta({ examples: [1] }),
      ...asked,
    }),
    reply: "events",
    async serve({ id: which, exchanges, question, ...asking }, context) {
      const options = optionsFor(context, asking);
      const from = await existingConversation(context, which);
      const newId = randomUUID();
      const conversation =
        exchanges === 0 ? openConversation(context, newId) : await from.conversation.branch(newId, exchanges);
      const position = Math.min(exchanges, from.info.exchanges) + 1;
      return startQuestion(context, conversation, { question, position }, (signal) =>
        conversation.ask(question, { ...options, signal }),
      );
    },
  }),
  route({
    method: "GET",
    path: "/api/conversations/{id}/events",
    operation: "followAnswer",
    summary: "Follow the answer that is being made, or was a moment ago, from its beginning",
    request: z.strictObject({
      id,
      after: z.coerce.number().int().min(-1).default(-1).describe("Number of the last event seen"),
    }),
    reply: "events",
    async serve({ id: which, after }, context) {
      await existingConversation(context, which);
      const answer = context.answers.get(answerName(context, which));
      if (!answer) throw new Refusal(404, "not-running", "No answer of this conversation is being made");
      return { events: answer.follow(after + 1) };
    },
  }),
  route({
    method: "POST",
    path: "/api/conversations/{id}/stop",
    operation: "stopAnswer",
    summary: "Stop the answer that is being made; it is kept as far as it came",
    request: z.strictObject({ id }),
    reply: z.object({ stopped: z.boolean().describe("False when none was being made") }),
    async serve({ id: which }, context) {
      await existingConversation(context, which);
      const answer = context.answers.get(answerName(context, which));
      const stopped = answer?.isRunning ?? false;
      answer?.stop();
      await answer?.ended;
      return { json: { stopped } };
    },
  }),
];

interface AskedHow {
  readonly filter?: Filter | undefined;
  readonly images: readonly string[];
  readonly settings: CallerSettings;
}

/** Options of an answer, with what the caller narrows, shows and chooses. */
function optionsFor({ ask, choices, kb }: RouteContext, { filter, images, settings }: AskedHow): AskOptions {
  requireSeen(kb, images, "images");
  return { ...chosenOptions(ask, choices, settings), images, ...given({ filter }) };
}

type Holding = Pick<RouteContext, "documents" | "access">;

/** A conversation of the caller's, new or not. */
export function openConversation({ documents, access }: Holding, which: string): Conversation {
  return documents.conversation({ id: which, ...given({ owner: access.owner }) });
}

/** @throws Refusal (404) for one that does not exist or belongs to somebody else: the caller cannot tell which. */
export async function existingConversation(
  context: Holding,
  which: string,
): Promise<{ readonly conversation: Conversation; readonly info: ConversationInfo }> {
  const info = await context.documents.conversation({ id: which }).info();
  if (info && info.owner === context.access.owner) return { conversation: openConversation(context, which), info };
  throw new Refusal(404, "not-found", "There is no such conversation");
}

/** Name of a conversation's answer that is under way. */
export function answerName({ accessName }: Pick<RouteContext, "accessName">, which: string): string {
  return `${accessName} ${which}`;
}

/** Starts the answer to a question, and records that it was asked. */
function startQuestion(...[context, conversation, exchange, answer]: Parameters<typeof start>): Reply {
  context.audit({ event: "question", conversation: conversation.id, ...given({ text: exchange?.question }) });
  return start(context, conversation, exchange, answer);
}

/** Starts an answer, and follows it: it continues when its reader leaves. */
function start(
  context: RouteContext,
  { id: which }: Conversation,
  exchange: { readonly question: string; readonly position: number } | undefined,
  answer: (signal: AbortSignal) => AsyncIterable<AnswerEvent>,
): Reply {
  const running = context.answers.start(answerName(context, which), (signal) => {
    const events = answerEvents(answer(signal), context);
    const { question = "", position = 0 } = exchange ?? {};
    return headed({ type: "conversation", id: which, question, position }, events);
  });
  return { events: running.follow() };
}

async function* headed(first: WireEvent, events: AsyncIterable<WireEvent>): AsyncGenerator<WireEvent> {
  yield first;
  yield* events;
}
