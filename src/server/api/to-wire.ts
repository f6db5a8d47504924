import type { WaitingCall } from "../../core/approval.js";
import { asError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import type { AnswerEvent, Answer, Citation, Hit, NearestPassages } from "../../core/types.js";
import type { Conversation } from "../../knowledge-base/conversation.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { refusalOf } from "../guard/refusal.js";
import type {
  WireCall,
  WireCitation,
  WireConversation,
  WireEvent,
  WireExchange,
  WireFeedback,
  WireNearest,
  WirePassage,
  WireRatedAnswer,
} from "./wire.js";

export type ConversationInfo = Awaited<ReturnType<KnowledgeBase["conversations"]>>[number];
type RatedAnswer = Awaited<ReturnType<KnowledgeBase["feedback"]>>[number];
type StoredFeedback = RatedAnswer["feedback"];
type StoredExchange = Awaited<ReturnType<Conversation["exchanges"]>>[number];
type StoredCall = NonNullable<StoredExchange["waiting"]>["calls"][number];

export function wirePassage({ chunk, uri, title, line, page, seconds, picture, score }: Hit): WirePassage {
  const { id: chunkId, start, end, text } = chunk;
  return { chunkId, uri, ...given({ title, line, page, seconds, picture }), start, end, text, score };
}

export function wireNearest({ hits, headings }: NearestPassages): WireNearest {
  return { passages: hits.map(wirePassage), headings: [...headings] };
}

export function wireCitation(citation: Citation): WireCitation {
  const { number, chunkId, uri, title, line, page, seconds, start, end, quote, supported, support } = citation;
  const { struckOut, sentence, picture } = citation;
  return {
    number,
    chunkId,
    uri,
    ...given({ title, line, page, seconds, picture }),
    start,
    end,
    quote,
    supported,
    support,
    ...given({ struckOut, sentence }),
  };
}

export function wireCall(call: WaitingCall | StoredCall): WireCall {
  const { approvalId, id, name, input, untrusted } = call;
  const decision = "decision" in call ? call.decision : undefined;
  return {
    approvalId,
    id,
    name,
    input,
    untrusted,
    ...(decision && { decision: { approved: decision.approved, finished: decision.finished } }),
  };
}

export function wireConversation(info: ConversationInfo): WireConversation {
  const { id, title, exchanges, waiting = false, createdAtMs, updatedAtMs } = info;
  return { id, title, exchanges, waiting, createdAtMs, updatedAtMs };
}

export function wireExchange({
  position,
  question,
  askedAtMs,
  answer,
  feedback,
  waiting,
}: StoredExchange): WireExchange {
  return {
    position,
    question,
    askedAtMs,
    ...(answer && {
      answer: {
        text: answer.text,
        citations: answer.citations.map(wireCitation),
        ...given({ remarks: answer.remarks && [...answer.remarks] }),
        ...(answer.nearest && { nearest: wireNearest(answer.nearest) }),
        stopped: answer.stopped,
      },
    }),
    ...(feedback && { feedback: wireFeedback(feedback) }),
    ...(waiting && {
      waiting: {
        text: waiting.text,
        citations: waiting.citations.map(wireCitation),
        calls: waiting.calls.map(wireCall),
      },
    }),
  };
}

export function wireRatedAnswer({ conversation, position, question, answer, feedback }: RatedAnswer): WireRatedAnswer {
  const { text, citations } = answer;
  return {
    conversation,
    position,
    question,
    text,
    citations: citations.map(wireCitation),
    feedback: wireFeedback(feedback),
  };
}

function wireFeedback({ rating, note, givenAtMs }: StoredFeedback): WireFeedback {
  return { rating, ...given({ note }), givenAtMs };
}

/** An event for readers; the end of an answer is written by `answerEvents`. */
export function wireEvent(event: Exclude<AnswerEvent, { type: "finish" | "error" }>): WireEvent {
  if (event.type === "retrieved") {
    const { hits, searchedFor } = event;
    return { type: "retrieved", passages: hits.map(wirePassage), ...given({ searchedFor }) };
  }
  if (event.type === "citation") return { type: "citation", citation: wireCitation(event.citation) };
  if (event.type === "approval-needed") return { type: "approval-needed", call: wireCall(event) };
  if (event.type !== "approval") return event;
  const { id, name, approved } = event;
  return { type: "approval", id, name, approved };
}

export function wireFailure(thrown: unknown): Extract<WireEvent, { type: "error" }> {
  const { code, message } = refusalOf(asError(thrown));
  return { type: "error", error: { code, message } };
}

/** Calls that wait in an answer. */
export function waitingCalls({ waiting }: Answer): WireCall[] {
  return (waiting?.calls ?? []).map(wireCall);
}
