import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { OptionsError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import type { Answer, AnswerEvent } from "../../core/types.js";
import { imageAddress } from "../../models/question-images.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { explainStop, withKnowledgeBase, type CommandIo, type StoreFlags } from "../command-context.js";
import { describeSources } from "../output/answer-sources.js";
import { answerView, plainView, type AnswerView } from "../output/answer-view.js";
import { exitCodes } from "../output/failure.js";
import { filterRemark } from "../output/filter-remark.js";
import { oneLine, safeForTerminal } from "../output/terminal-text.js";
import type { Configuration } from "../settings/configuration.js";
import { given } from "../../core/given.js";
import { hitAsJson } from "./search.js";

export interface AskFlags extends StoreFlags {
  readonly filter?: Filter;
  /** False with `--no-correct`. */
  readonly correct?: boolean;
  /** Paths of picture files. */
  readonly image?: readonly string[];
}

export async function askCommand(
  io: CommandIo,
  words: readonly string[],
  { filter, correct, image: files = [], ...flags }: AskFlags,
): Promise<number> {
  const { stdout, signal } = io;
  const question = words.join(" ");
  const images = await Promise.all(files.map((file) => readImage(io, file)));
  return withKnowledgeBase(io, flags, false, async (kb, settings) => {
    if (explainsQuoting(io, settings, flags.json)) await explainQuotingOnce(io, kb);
    const remark = filter && (await filterRemark(kb, filter));
    if (remark !== undefined) io.stderr.write(remark);
    const events = kb.ask(question, { ...given({ filter, correct }), images, signal });
    const answering = flags.json ? readAnswer(events) : showAnswer(events, io, await answerView(io));
    const stopped = "\nStopped. Run the same command again for the whole answer.\n";
    const answer = await explainStop(io, stopped, answering);
    if (flags.json) stdout.write(`${JSON.stringify(answerAsJson(answer))}\n`);
    return exitCodes.done;
  });
}

/** A picture file for a question. @throws OptionsError for one that cannot be read, or is no picture. */
export async function readImage({ directory }: CommandIo, path: string): Promise<string> {
  const bytes = await readFile(resolve(directory, path)).catch((cause: unknown) => {
    throw new OptionsError("options", `The picture ${path} cannot be read: check the path`, { option: "image", cause });
  });
  return imageAddress(bytes, path);
}

/** Note that answers are only quotes: readers may not know that they come from a stand-in. */
export const quotingNote =
  "citewell: answers are quotes, as no model is connected. For answers in prose set CITEWELL_BASE_URL, CITEWELL_API_KEY, " +
  "CITEWELL_CHAT_MODEL and CITEWELL_EMBEDDING_MODEL, then run citewell migrate\n";

/** Whether the output is a terminal and the local service's quoting model answers. */
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
    if (event.type === "retrieved" && event.searchedFor !== undefined) {
      note(notes, `[searched for ${oneLine(event.searchedFor, 200)}]`);
    }
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

function answerAsJson(answer: Answer): object {
  const { text, searchedFor, answered, nearest, citations, remarks, hits, usage, account, model, warnings } = answer;
  return {
    ...given({ searchedFor }),
    answer: text,
    answered,
    ...(nearest && { nearest: { hits: nearest.hits.map(hitAsJson), headings: nearest.headings } }),
    citations,
    remarks,
    hits: hits.map(hitAsJson),
    usage,
    account,
    model,
    warnings,
  };
}
