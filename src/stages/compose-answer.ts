import { AnswerError } from "../errors.js";
import type { RunContext } from "../pipeline.js";
import type { ChatModel, TokenCounter } from "../ports.js";
import { longestStart } from "../text/cut-text.js";
import { foldMessages, type ToolRound } from "../text/fold-messages.js";
import { packSources } from "../text/pack.js";
import { abstentionFor, callFirst, renderSourcedQuestion, systemPrompt } from "../text/prompt.js";
import type { Answer, Document, Hit, Retrieved, ToolExchange, Turn } from "../types.js";
import { answerBudget } from "./answer-budget.js";
import { AnswerDraft, type AnswerProgress } from "./answer-draft.js";
import { AnswerSources } from "./answer-sources.js";
import type { ResolvedAnswerOptions } from "./answer-options.js";
import { askModel } from "./ask-model.js";
import { fixedCosts } from "./fixed-costs.js";
import type { ModelReply } from "./model-reply.js";
import { remainingTime } from "./remaining-time.js";
import { type AnswerStructure, type BadReply, repairMessages, repairTokens } from "./structured-answer.js";
import { runToolRound, withIds } from "./tool-round.js";
import type { Toolbox } from "./toolbox.js";

export interface AnswerParts {
  readonly model: ChatModel;
  readonly settings: ResolvedAnswerOptions;
  /** Where the answer is to be a value. */
  readonly structure: AnswerStructure | undefined;
  readonly tools: Toolbox;
  readonly context: RunContext;
  /** Is given the draft once there is one: what was spent on it is to be known if it fails. */
  readonly onDraft: (draft: AnswerDraft) => void;
}

/** One answer, told as it is made, and returned whole at the end. Throws where it cannot be made. */
export async function* composeAnswer(
  retrieved: Retrieved,
  { model, settings, structure, tools, context, onDraft }: AnswerParts,
): AsyncGenerator<AnswerProgress, Answer> {
  const { question, hits } = retrieved;
  const { tokens } = model;
  yield { type: "retrieved", hits, trace: retrieved.trace };

  const history = (retrieved.history ?? []).map((turn) => withServiceNames(turn, tools));
  const callsFirst =
    settings.toolUse === "required" && tools.offered(hits.length > 0 || history.some(usedTools)).length > 0;
  const instructions = [settings.instructions, ...(callsFirst ? [callFirst] : [])].join("\n\n");
  const system = structure?.systemPrompt(instructions) ?? systemPrompt(question, instructions);
  const costs = fixedCosts({ system, question, history, tools: tools.offered(false), tokens });
  const budget = answerBudget(model, settings, {
    ...costs,
    instructions: costs.instructions + (structure ? repairTokens + costs.question : 0),
  });
  const documents = await documentsAround(hits, settings);
  context.signal.throwIfAborted();
  const widen = { documents, maxTokens: settings.widenTotalTokens };
  const packed = packSources(hits, { maxTokens: budget.sources, tokens, widen });
  const { passages } = packed;
  const sources = new AnswerSources(hits, packed);
  const draft = new AnswerDraft(retrieved, sources);
  onDraft(draft);

  if (passages.length === 0 && tools.size === 0) {
    const lastReply = abstentionFor(question);
    for (const part of draft.cited.push(lastReply)) yield draft.tell(part);
    return draft.finish({ model: model.model, lastReply });
  }

  const ask = renderSourcedQuestion({ sources: passages, question });
  const rounds: ToolRound[] = [];
  const form = model.toolMessages ? { toolMessages: model.toolMessages } : {};
  let bad: BadReply | undefined;
  const untrustedFromStart = passages.length > 0 || history.some(usedTools);
  if (untrustedFromStart && tools.withheld.length > 0) {
    yield draft.warn(`Withheld, since they write and the sources are not trusted: ${tools.withheld.join(", ")}`);
  }

  for (;;) {
    const untrusted = untrustedFromStart || rounds.length > 0;
    const offered = bad === undefined && rounds.length < settings.maxRounds ? tools.offered(untrusted) : [];
    const repair = bad ? repairMessages(bad, question, tokens) : [];
    const folded = foldMessages(
      { system, history, ask, rounds },
      { maxMessages: model.maxMessages - repair.length, maxTokens: budget.conversation, tokens, ...form },
    );
    draft.fold(folded);
    const reply = yield* askModel(model, draft, {
      request: {
        messages: [...folded.messages, ...repair],
        maxTokens: budget.reply,
        // Services differ in whether a reply in JSON may be a call of a tool.
        ...(structure && offered.length === 0 && { format: "json" as const }),
        ...(offered.length > 0 && { tools: offered }),
        ...(settings.temperature !== undefined && { temperature: settings.temperature }),
      },
      call: { signal: context.signal, ...remainingTime(context) },
      readsWrittenCalls: tools.size > 0,
      tells: structure === undefined,
    });
    if (reply.calls.length === 0 || offered.length === 0) {
      if (callsFirst && bad === undefined && rounds.length === 0) {
        yield draft.warn("The model was to call a tool and called none");
      }
      if (structure) {
        const read = await structure.read(reply.text);
        if (!("problem" in read)) {
          const text = read.answered ? read.text : abstentionFor(question);
          yield { type: "text-delta", text };
          if (read.answered) yield* draft.cite(read.sources);
          const structured = { ...read, text };
          return draft.finish({ model: reply.finish.model, lastReply: text, structured });
        }
        if (bad) throw misfit(reply, read.problem);
        bad = { text: reply.text, problem: read.problem };
        continue;
      }
      yield* draft.review(reply);
      return draft.finish({ model: reply.finish.model, lastReply: reply.text });
    }
    const round = yield* runToolRound(withIds(reply.calls, new Set(draft.exchanges.map(({ id }) => id))), {
      tools,
      untrusted,
      approve: settings.approve,
      approvalTimeoutMs: settings.approvalTimeoutMs,
      concurrency: settings.toolConcurrency,
      roundTokens: budget.results,
      resultTokens: settings.toolResultTokens,
      tokens,
      sources,
      filter: retrieved.filter,
      context,
    });
    draft.remember(round);
    rounds.push({
      text: reply.text,
      tools: round.map(({ exchange }) => serviceNamed(exchange, tools)),
      ...(model.replaysReasoning && { reasoning: cutToTokens(reply.reasoning, budget.results / 2, tokens) }),
    });
  }
}

/** The documents of hits that have more around them to be widened to, by uri; none where the hits alone fill the room. */
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
  const cut = reason === "length" ? ` The limit cut it after ${usage.outputTokens} tokens: raise answerTokens.` : "";
  return new AnswerError("schema", `${model} was asked twice, and its reply cannot be used. ${problem}${cut}`, {
    text,
  });
}

/** Thinking is longer than what it led to: whole, it would push out the very results that it asked for. */
function cutToTokens(text: string, maxTokens: number, tokens: TokenCounter): string {
  return longestStart(text, (start) => tokens.count(start) <= maxTokens);
}

function usedTools(turn: Turn): boolean {
  return turn.role === "assistant" && (turn.tools?.length ?? 0) > 0;
}

function serviceNamed(exchange: ToolExchange, tools: Toolbox): ToolExchange {
  return { ...exchange, name: tools.nameFor(exchange.name) };
}

function withServiceNames(turn: Turn, tools: Toolbox): Turn {
  return turn.role === "assistant" && turn.tools
    ? { ...turn, tools: turn.tools.map((exchange) => serviceNamed(exchange, tools)) }
    : turn;
}
