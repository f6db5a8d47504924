import type { Filter } from "../../core/filter.js";
import type { Answer, AnswerEvent, Citation } from "../../core/types.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { explainStop, withKnowledgeBase, type CommandIo, type StoreFlags } from "../command-context.js";
import { answerView, plainView, type AnswerView } from "../output/answer-view.js";
import { exitCodes } from "../output/failure.js";
import { displayPlace, oneLine, safeForTerminal, type KnownFolders } from "../output/terminal-text.js";
import type { Configuration } from "../settings/configuration.js";
import { given } from "../../core/given.js";
import { hitAsJson } from "./search.js";

export interface AskFlags extends StoreFlags {
  readonly filter?: Filter;
}

export async function askCommand(io: CommandIo, question: string, { filter, ...flags }: AskFlags): Promise<number> {
  const { stdout, signal } = io;
  return withKnowledgeBase(io, flags, false, async (kb, settings) => {
    if (explainsQuoting(io, settings, flags.json)) await explainQuotingOnce(io, kb);
    const events = kb.ask(question, { ...given({ filter }), signal });
    const answering = flags.json ? readAnswer(events) : showAnswer(events, io, await answerView(io));
    const stopped = "\nStopped. Run the same command again for the whole answer.\n";
    const answer = await explainStop(io, stopped, answering);
    if (flags.json) stdout.write(`${JSON.stringify(answerAsJson(answer))}\n`);
    return exitCodes.done;
  });
}

/** Answers that are only quotes look poor to whoever does not know that they come from a stand-in. */
export const quotingNote =
  "citewell: answers are quotes, as no model is connected. For answers in prose set CITEWELL_BASE_URL, CITEWELL_API_KEY, " +
  "CITEWELL_CHAT_MODEL and CITEWELL_EMBEDDING_MODEL, then run citewell migrate\n";

/** Whether somebody sits at a terminal, and the quoting model of the local service answers. */
export function explainsQuoting({ notes }: CommandIo, { baseUrl, chatModel }: Configuration, json = false): boolean {
  return notes.isTTY && !json && baseUrl === undefined && chatModel === undefined;
}

/** Explains it with the first question to a store. A store that cannot be written to at the moment says it again. */
export async function explainQuotingOnce({ notes }: CommandIo, { store }: KnowledgeBase): Promise<void> {
  const key = "citewell:quoting-explained";
  if ((await store.notes?.([key]))?.has(key)) return;
  notes.write(quotingNote);
  await store.write({ notes: new Map([[key, "true"]]) }).catch(() => {});
}

/** Writes the answer as it comes, then its sources. */
export async function showAnswer(
  events: AsyncIterable<AnswerEvent>,
  io: Pick<CommandIo, "stdout" | "stderr" | "notes" | "directory" | "home">,
  view: AnswerView = plainView(io),
): Promise<Answer> {
  const { stdout, stderr, notes } = io;
  // On a terminal a note within an answer starts on a line of its own.
  let midLine = false;
  const note = (out: CommandIo["stderr"], line: string) => {
    view.end();
    out.write(`${midLine && out.isTTY ? "\n" : ""}${line}\n`);
    midLine &&= !out.isTTY;
  };
  const answer = await readAnswer(events, (event) => {
    if (event.type === "text-delta") {
      view.write(event.text);
      midLine ||= event.text !== "";
    }
    if (event.type === "tool-call") note(notes, `[calls ${event.name}]`);
    if (event.type === "warning") note(stderr, `citewell: ${safeForTerminal(event.message)}`);
  }).finally(() => view.end());
  stdout.write(`\n\n${describeSources(answer, io, view)}`);
  return answer;
}

async function readAnswer(
  events: AsyncIterable<AnswerEvent>,
  onEvent: (event: AnswerEvent) => void = () => {},
): Promise<Answer> {
  for await (const event of events) {
    if (event.type === "error") throw event.error;
    if (event.type === "finish") return event.answer;
    onEvent(event);
  }
  throw new Error("The answer ended without an end event");
}

const supportNotes: Readonly<Record<Citation["support"], string>> = {
  exact: "",
  normalised: "",
  near: "  (only similar words are in the source)",
  missing: "  (not found in the source)",
};

/** The numbered sources under an answer, one line each: file, line and the words cited. */
export function describeSources(
  { answered, citations, hits }: Answer,
  folders: KnownFolders,
  { link, remark }: Pick<AnswerView, "link" | "remark">,
): string {
  if (citations.length > 0) {
    const lines = distinct(citations).map((citation) => {
      const { number, uri, line, quote, support } = citation;
      const place = link(displayPlace(uri, citation, folders), uri, line);
      return `[${number}] ${place}  “${oneLine(quote, 160)}”${remark(supportNotes[support])}`;
    });
    return `Sources\n${lines.join("\n")}\n`;
  }
  if (answered || hits.length === 0) return "";
  const nearest = hits
    .slice(0, 3)
    .map((hit) => `  ${link(displayPlace(hit.uri, hit, folders), hit.uri, hit.line)}  ${oneLine(hit.chunk.text, 100)}`);
  return `Nearest passages\n${nearest.join("\n")}\n`;
}

function distinct(citations: readonly Citation[]): readonly Citation[] {
  const seen = new Map(citations.map((citation) => [`${citation.number} ${citation.start} ${citation.end}`, citation]));
  return [...seen.values()].toSorted((a, b) => a.number - b.number || a.start - b.start);
}

function answerAsJson({ text, answered, citations, hits, usage, account, model, warnings }: Answer): object {
  return { answer: text, answered, citations, hits: hits.map(hitAsJson), usage, account, model, warnings };
}
