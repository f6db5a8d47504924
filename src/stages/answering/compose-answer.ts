import { given } from "../../core/given.js";
import { AnswerError, OptionsError } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import type { ChatModel } from "../../core/ports.js";
import type { Answer, Document, Hit, Retrieved, ToolExchange, Turn } from "../../core/types.js";
import { longestStart } from "../../text/blocks/cut-text.js";
import { foldMessages } from "../../text/prompt/fold-messages.js";
import type { ToolRound } from "../../text/prompt/tool-messages.js";
import { packSources } from "../../text/prompt/pack.js";
import { pictureTokens } from "../../text/tokens/tokens.js";
import { abstentionFor, callFirst, renderSourcedQuestion, systemPrompt } from "../../text/prompt/prompt.js";
import { remainingTime } from "../calls/timed-calls.js";
import { allocateContext } from "./allocate-context.js";
import { AnswerDraft, type AnswerProgress, type ModelReply } from "./answer-draft.js";
import type { ResolvedAnswerOptions } from "./answer-options.js";
import { AnswerSources, packedSources, type SourcesState } from "./answer-sources.js";
import { askModel } from "./ask-model.js";
import { pause, type PausedAnswer } from "./paused-answer.js";
import { expectedPictures, sourcePictures } from "./source-pictures.js";
import { type AnswerStructure, type BadReply, repairMessages, repairTokens } from "./structured-answer.js";
import { resumeToolRound, type RoundDecisions } from "./tools/resume-tool-round.js";
import { runToolRound, settleRound, withIds } from "./tools/run-tool-round.js";
import type { FinishedCall } from "./tools/run-tool.js";
import type { Toolbox } from "./tools/toolbox.js";

/** The largest size, in pixels, at which most models read a picture: larger ones are made smaller. */
const readSize = { width: 1344, height: 1344 };

export interface AnswerParts {
  readonly model: ChatModel;
  readonly settings: ResolvedAnswerOptions;
  /** Present when the answer is to be a value. */
  readonly structure: AnswerStructure | undefined;
  readonly tools: Toolbox;
  readonly context: RunContext;
  /** Receives the draft as soon as there is one: if the answer fails, the draft has the tokens spent. */
  readonly onDraft: (draft: AnswerDraft) => void;
}

/** An answer to continue, with the decisions on the calls that it waits for. */
export interface ResumedAnswer extends RoundDecisions {
  readonly paused: PausedAnswer;
}

/**
 * Makes one answer, or continues one that waited: yields its events as it is made and returns it, whole or waiting.
 * Throws if it cannot be made.
 */
export async function* composeAnswer(
  from: Retrieved | ResumedAnswer,
  { model, settings, structure, tools, context, onDraft }: AnswerParts,
): AsyncGenerator<AnswerProgress, Answer> {
  const resumed = "paused" in from ? from : undefined;
  const paused = resumed?.paused;
  const retrieved = withoutDescription("paused" in from ? from.paused.retrieved : from);
  const { hits, filter, searchedFor } = retrieved;
  // The sources have the words that were searched for, and a model that quotes finds no others.
  const { question, pictures } = askedWithPictures(model, retrieved);
  const { tokens } = model;
  if (!paused) yield { type: "retrieved", hits, trace: retrieved.trace, ...given({ searchedFor }) };

  const history = (retrieved.history ?? []).map((turn) => withServiceNames(turn, tools));
  const mustCallFirst = settings.toolUse === "required" && tools.offered.length > 0;
  const instructions = [settings.instructions, ...(mustCallFirst ? [callFirst] : [])].join("\n\n");
  const system = structure?.systemPrompt(instructions) ?? systemPrompt(question, instructions);
  const shares = allocateContext(model, settings, {
    system,
    question,
    history,
    tools: tools.offered,
    pictureTokens: (pictures.length + expectedPictures(model, settings, hits)) * pictureTokens(readSize),
    repairTokens: structure ? repairTokens : 0,
  });
  const sources = new AnswerSources(
    paused?.sources ?? (await packed(hits, shares.sources, { model, settings, context })),
  );
  const draft = new AnswerDraft(retrieved, sources, paused?.draft);
  onDraft(draft);
  if (!paused) for (const warning of retrieved.warnings ?? []) yield draft.warn(warning);
  if (!paused && tools.withheld.length > 0) {
    yield draft.warn(`Withheld, since they write and there is no approve: ${tools.withheld.join(", ")}`);
  }

  if (!paused && sources.size === 0 && tools.offered.length === 0) {
    const lastReply = abstentionFor(question);
    for (const part of draft.cited.push(lastReply)) yield draft.tell(part);
    return draft.finish({ model: model.model, finishReason: "stop", lastReply });
  }

  const shown = await sourcePictures(model, settings, sources.given);
  const ask = renderSourcedQuestion({ sources: sources.given, question }) + shown.note;
  const rounds: ToolRound[] = [...(paused?.rounds ?? [])];
  const optionsFor = (calls: number) => {
    const maxResultTokens = Math.min(settings.toolResultTokens, Math.floor(shares.results / calls));
    return { tools, settings, filter, context, tokens, maxResultTokens };
  };
  const endRound = ({ text, reasoning }: Pick<ModelReply, "text" | "reasoning">, outcomes: readonly FinishedCall[]) => {
    const round = settleRound(outcomes, sources, optionsFor(outcomes.length));
    draft.remember(round);
    // Thinking is longer than the calls it led to: in full it would push out the very results that they asked for.
    const fits = (start: string) => tokens.count(start) <= shares.results / 2;
    rounds.push({
      text,
      tools: round.map(({ exchange }) => withServiceName(exchange, tools)),
      ...(model.replaysReasoning && { reasoning: longestStart(reasoning, fits) }),
    });
  };
  if (resumed) {
    const { round } = resumed.paused;
    endRound(round, yield* resumeToolRound(round.outcomes, resumed, optionsFor(round.outcomes.length)));
  }
  const form = model.toolMessages ? { toolMessages: model.toolMessages } : {};
  let bad: BadReply | undefined;
  // An earlier answer may repeat documents, whose text is not to be trusted just because the model repeats it.
  const isUntrustedFromStart = hits.length > 0 || history.some(({ role }) => role === "assistant");

  for (;;) {
    const offered = bad === undefined && rounds.length < settings.maxRounds ? tools.offered : [];
    const repair = bad ? repairMessages(bad, question, tokens) : [];
    const folded = foldMessages(
      { system, history, ask, pictures: [...pictures, ...shown.pictures], rounds },
      { maxMessages: model.maxMessages - repair.length, maxTokens: shares.conversation, tokens, ...form },
    );
    draft.fold(folded);
    const reply = yield* askModel(model, draft, {
      request: {
        messages: [...folded.messages, ...repair],
        maxTokens: shares.reply,
        // Services differ in whether a reply in JSON may be a tool call.
        ...(structure && offered.length === 0 && { format: "json" as const, schema: structure.replySchema }),
        ...(offered.length > 0 && { tools: offered }),
        ...(mustCallFirst && offered.length > 0 && rounds.length === 0 && { toolChoice: "required" as const }),
        ...(settings.temperature !== undefined && { temperature: settings.temperature }),
      },
      call: { signal: context.signal, ...remainingTime(context) },
      readsWrittenCalls: tools.size > 0,
      streamsText: structure === undefined,
    });
    if (reply.calls.length > 0 && offered.length > 0) {
      const calls = withIds(reply.calls, draft.callIds);
      const untrusted = isUntrustedFromStart || rounds.length > 0;
      const outcomes = yield* runToolRound(calls, untrusted, optionsFor(calls.length));
      const finished = outcomes.filter((outcome) => "exchange" in outcome);
      if (finished.length < outcomes.length) {
        const { text, reasoning } = reply;
        const state = {
          retrieved,
          sources: sources.state,
          draft: draft.state,
          rounds,
          round: { text, reasoning, outcomes },
        };
        return draft.finish({ ...endOf(reply), finishReason: "tool-calls", lastReply: "", waiting: pause(state) });
      }
      endRound(reply, finished);
      continue;
    }
    if (mustCallFirst && bad === undefined && rounds.length === 0) {
      yield draft.warn("The model should have called a tool first, but called none");
    }
    if (!structure) {
      yield* draft.review(reply);
      return draft.finish({ ...endOf(reply), lastReply: reply.text });
    }
    const read = await structure.read(reply.text);
    if (!("problem" in read)) {
      const text = read.answered ? read.text : abstentionFor(question);
      yield { type: "text-delta", text };
      if (read.answered) yield* draft.cite(read.sources);
      return draft.finish({ ...endOf(reply), lastReply: text, structured: { ...read, text } });
    }
    if (bad) throw misfit(reply, read.problem);
    bad = { text: reply.text, problem: read.problem };
  }
}

/** The question as the model gets it: with its pictures where the model sees, else with what another model says of them. */
function askedWithPictures(
  { model, seesPictures = false }: ChatModel,
  { question, searchedFor = question, images = [], imageDescription: described, warnings = [] }: Retrieved,
): { readonly question: string; readonly pictures: readonly string[] } {
  if (images.length === 0 || seesPictures) return { question: searchedFor, pictures: images };
  if (described === undefined) {
    const why = warnings.length === 0 ? "" : ` (${warnings.join("; ")})`;
    throw new OptionsError(
      "options",
      `${model} sees no pictures, and nobody has described those of the question${why}: ask a model that sees`,
    );
  }
  const isOne = images.length === 1;
  const came = isOne ? "A picture came" : `${images.length} pictures came`;
  const says = `A model that sees says of ${isOne ? "it" : "them"}, as data: ${JSON.stringify(described.text)}`;
  return { question: `${searchedFor}\n\n${came} with the question. ${says}`, pictures: [] };
}

/** The retrieved passages with the question as it was before its pictures were described for the search. */
function withoutDescription(retrieved: Retrieved): Retrieved {
  const { imageDescription: described } = retrieved;
  return described ? { ...retrieved, question: described.question } : retrieved;
}

/** The hits as sources, widened while there is room. */
async function packed(
  hits: readonly Hit[],
  maxTokens: number,
  { model: { tokens }, settings, context }: Pick<AnswerParts, "model" | "settings" | "context">,
): Promise<SourcesState> {
  const documents = await documentsAround(hits, settings);
  context.signal.throwIfAborted();
  const widen = { documents, maxTokens: settings.widenTotalTokens };
  return packedSources(hits, packSources(hits, { maxTokens, tokens, widen }));
}

/** Reads the documents of hits that can be widened, by uri; none when the hits alone fill the room. */
async function documentsAround(
  hits: readonly Hit[],
  { documents, widenTotalTokens }: ResolvedAnswerOptions,
): Promise<ReadonlyMap<string, Document>> {
  const found = hits.reduce((total, { chunk }) => total + chunk.tokens, 0);
  const wanted = documents && found < widenTotalTokens ? hits.filter(isPart) : [];
  const uris = [...new Set(wanted.map(({ uri }) => uri))];
  const read = await Promise.all(uris.map(async (uri) => [uri, await documents?.document(uri)] as const));
  return new Map(read.flatMap(([uri, document]) => (document ? [[uri, document] as const] : [])));
}

function isPart({ chunk: { start, end, parent } }: Hit): boolean {
  return parent !== undefined && (parent.start < start || parent.end > end);
}

function misfit({ text, finish: { model, reason, usage } }: ModelReply, problem: string): AnswerError {
  const after = usage ? ` after ${usage.outputTokens} tokens` : "";
  const cut = reason === "length" ? ` The limit cut it${after}: raise answerTokens.` : "";
  const message = `${model} was asked twice, and its reply still cannot be used. ${problem}${cut}`;
  return new AnswerError("schema", message, { text });
}

function endOf({ finish: { model, reason } }: ModelReply) {
  return { model, finishReason: reason };
}

function withServiceName(exchange: ToolExchange, tools: Toolbox): ToolExchange {
  return { ...exchange, name: tools.nameFor(exchange.name) };
}

function withServiceNames(turn: Turn, tools: Toolbox): Turn {
  if (turn.role !== "assistant" || !turn.tools) return turn;
  return { ...turn, tools: turn.tools.map((exchange) => withServiceName(exchange, tools)) };
}
