import { z } from "zod";
import { checkStorePart } from "../../core/check-port.js";
import { AnswerError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import { optionsOf, resolve } from "../../core/options.js";
import { Pipeline } from "../../core/pipeline.js";
import { collect } from "../../core/stream.js";
import type { AnswerEvent, Citation, FinishReason, Question, Retrieved } from "../../core/types.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { type SearchPassagesOptions, searchPassagesOptions } from "../../knowledge-base/question-options.js";
import { type AnswerOptions, answerOptions } from "../../stages/answering/answer-options.js";
import { answer } from "../../stages/answering/answer.js";
import { condense } from "../../stages/questions/condense.js";
import { conversationOf } from "../ask-chat-model.js";
import { type ModelLimits, modelLimits } from "../model-limits.js";
import { chatModelFrom } from "./from-language-model.js";
import { type Piece, streamedReply, wholeReply } from "./model-reply.js";
import { messagesOf } from "./prompt.js";
import type { AiSdkLanguageModel, AiSdkMiddleware, CallSettings, Warning } from "./specification.js";

export interface CitedAnswersOptions extends Omit<ModelLimits, "maxInputTokens"> {
  /** Search options. Default: those of `search`, with 6 passages. */
  readonly search?: Omit<SearchPassagesOptions, "signal" | "deadlineMs" | "report">;
  /** Answer options: instructions, tools of this library, limits. Default: those of `answer`. */
  readonly answer?: AnswerOptions;
}

const citedAnswersOptions = optionsOf<CitedAnswersOptions>()({
  contextTokens: modelLimits.shape.contextTokens,
  maxOutputTokens: modelLimits.shape.maxOutputTokens,
  tokens: modelLimits.shape.tokens,
  search: searchPassagesOptions.omit({ signal: true, deadlineMs: true, report: true }).prefault({}),
  answer: answerOptions.prefault({}),
});

/**
 * Middleware for `wrapLanguageModel`: the wrapped model answers the last question from passages of the knowledge base, or of
 * what `scoped` returned of it. Each citation is checked against its document and comes as a part of type `source`, whose
 * `providerMetadata.citewell` has the number in the text, the quoted words, their place, and whether they stand there. System
 * messages are instructions; earlier messages are what a follow-up may refer to. Tools of the AI SDK are left out with a warning.
 *
 * @throws OptionsError when an option is unknown or out of range.
 * @example
 * ```ts
 * import { wrapLanguageModel } from "ai";
 * import { createTransport, openKnowledgeBase } from "citewell";
 * import { aiSdkProvider, citedAnswers } from "citewell/ai-sdk";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const provider = aiSdkProvider(createTransport({ baseUrl: "https://api.example.com/v1", apiKey: "…" }));
 * const model = wrapLanguageModel({ model: provider.languageModel("…"), middleware: citedAnswers(kb) });
 * ```
 */
export function citedAnswers(
  documents: Pick<KnowledgeBase, "search">,
  options: CitedAnswersOptions = {},
): AiSdkMiddleware {
  checkStorePart("citedAnswers", documents, ["search"]);
  const settings = resolve("citedAnswers", citedAnswersOptions, options);
  const pieces = (model: AiSdkLanguageModel, params: CallSettings) => piecesOf(documents, settings, model, params);
  return {
    specificationVersion: "v3",
    wrapGenerate: async ({ model, params }) => wholeReply(pieces(model, params), warningsFor(params)),
    wrapStream: async ({ model, params }) =>
      streamedReply(pieces(model, params), { warnings: warningsFor(params), signal: params.abortSignal }),
  };
}

async function* piecesOf(
  documents: Pick<KnowledgeBase, "search">,
  { search, answer: how, ...limits }: z.output<typeof citedAnswersOptions>,
  wrapped: AiSdkLanguageModel,
  { prompt, maxOutputTokens, temperature, abortSignal: signal }: CallSettings,
): AsyncGenerator<Piece> {
  const model = chatModelFrom(wrapped, limits);
  const { system, history, ask } = conversationOf(messagesOf(prompt));
  const run = given({ signal });
  const question: Question = { question: ask, ...(history.length > 0 && { history }) };
  const [asked = question] = await collect(Pipeline.from<Question>().pipe(condense(model)).stream([question], run));
  const size = search.topN === undefined ? { count: 6 } : {};
  const found = await documents.search(asked.question, { ...size, ...search, ...run });
  const retrieved: Retrieved = { ...found, ...given({ asked: asked.asked }), ...(history.length > 0 && { history }) };
  const instructions = [how.instructions, system].filter(Boolean).join("\n\n");
  const answering = answer(model, {
    ...given({ temperature }),
    ...how,
    ...given({ maxReplyTokens: least(how.maxReplyTokens, maxOutputTokens) }),
    ...(instructions !== "" && { instructions }),
  });
  for await (const event of Pipeline.from<Retrieved>().pipe(answering).stream([retrieved], run)) {
    yield* pieceOf(event, wrapped.modelId);
  }
}

/** The smaller of two limits, of which each may be missing. */
function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function* pieceOf(event: AnswerEvent, modelId: string): Generator<Piece> {
  if (event.type === "text-delta") yield { type: "text", delta: event.text };
  else if (event.type === "reasoning-delta") yield { type: "reasoning", delta: event.text };
  else if (event.type === "citation") yield sourceOf(event.citation);
  else if (event.type === "error") {
    const reason = endingOf(event.error);
    if (!reason) throw event.error;
    const providerMetadata = { citewell: { answered: false, warnings: [event.error.message] } };
    yield { type: "finish", reason, usage: event.account?.paid, model: modelId, providerMetadata };
  } else if (event.type === "finish") {
    const { finishReason, usage, model, answered, warnings } = event.answer;
    const providerMetadata = { citewell: { answered, warnings: [...warnings] } };
    // Tool calls run here: the caller has none to continue.
    const reason = finishReason === "tool-calls" ? "stop" : finishReason;
    yield { type: "finish", reason, usage, model, providerMetadata };
  }
}

/** The end of a reply that has no answer in it, and that the AI SDK has a name for. */
function endingOf(error: Error): FinishReason | undefined {
  if (!(error instanceof AnswerError)) return undefined;
  if (error.code === "thinking-budget") return "length";
  return error.code === "content-filter" ? error.code : undefined;
}

function sourceOf({
  number,
  uri,
  title,
  chunkId,
  sentence,
  picture,
  ...checked
}: Citation): Extract<Piece, { readonly type: "source" }> {
  const id = `${number}:${checked.start}-${checked.end}`;
  const providerMetadata = {
    citewell: {
      number,
      uri,
      chunkId,
      ...checked,
      ...(sentence && { sentence: { ...sentence } }),
      ...(picture && { picture: { ...picture } }),
    },
  };
  return /^https?:/u.test(uri)
    ? { type: "source", sourceType: "url", id, url: uri, ...given({ title }), providerMetadata }
    : { type: "source", sourceType: "document", id, mediaType: "text/plain", title: title ?? uri, providerMetadata };
}

function warningsFor({ tools = [] }: CallSettings): Warning[] {
  const details = "the answer is made by citedAnswers(): give it tools of citewell in answer.tools";
  return tools.length === 0 ? [] : [{ type: "unsupported", feature: "tools", details }];
}
