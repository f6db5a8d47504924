import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import type { Conversation } from "../../knowledge-base/conversation.js";
import type { Answer, AnswerEvent } from "../../core/types.js";
import { explainsQuoting, quotingNote, readImage, showAnswer } from "./ask.js";
import { describeSources } from "../output/answer-sources.js";
import { withKnowledgeBase, type StoreFlags, type CommandIo } from "../command-context.js";
import { answerView, type AnswerView } from "../output/answer-view.js";
import { describeFailure, exitCodes } from "../output/failure.js";

export interface ChatFlags extends StoreFlags {
  readonly conversation?: string;
}

const help = `/sources  show the sources of the last answer
/image FILE  send a picture with the next question; needs a model that sees
/new      begin another conversation
/quit     end the chat, as Ctrl-D does, and Ctrl-C on an empty line; during an answer Ctrl-C stops the answer
`;

/** A conversation, one question a line: typed, or piped in. */
export async function chatCommand(io: CommandIo, flags: ChatFlags): Promise<number> {
  const { stdin, stdout, stderr, notes } = io;
  const typed = stdin.isTTY && flags.json !== true;
  return withKnowledgeBase(io, flags, false, async (kb, settings) => {
    let talk = kb.conversation({ id: flags.conversation ?? randomUUID() });
    const view = await answerView(io);
    let last: Answer | undefined;
    const images: string[] = [];
    let failed = false;
    let answering: AbortController | undefined;
    const lines = createInterface({ input: stdin, terminal: typed, ...(typed && { output: stdout }) });
    const stopAnswer = () => answering?.abort(new DOMException("Stopped by Ctrl-C", "AbortError"));
    // Typed in a terminal, Ctrl-C is a key event; from elsewhere it is a signal, which ends the command.
    lines.on("SIGINT", () => {
      if (answering) stopAnswer();
      else if (lines.line === "") lines.close();
      else {
        // Like a shell, clear the line and stay: move the cursor to its end, then delete it.
        lines.write(null, { ctrl: true, name: "e" });
        lines.write(null, { ctrl: true, name: "u" });
      }
    });
    const end = () => {
      stopAnswer();
      lines.close();
    };
    io.signal.addEventListener("abort", end);
    lines.setPrompt("> ");
    const prompt = () => {
      if (typed) lines.prompt();
    };
    if (explainsQuoting(io, settings, flags.json)) notes.write(quotingNote);
    if (typed) notes.write(`Conversation ${talk.id}. /help lists the commands.\n`);
    prompt();
    try {
      for await (const line of lines) {
        const words = line.trim();
        if (words === "/quit") break;
        if (words === "/help") stdout.write(help);
        else if (words === "/new") {
          talk = kb.conversation({ id: randomUUID() });
          last = undefined;
          images.length = 0;
          notes.write(`Conversation ${talk.id}\n`);
        } else if (words === "/sources") {
          stdout.write(last ? describeSources(last, io, view) : "There is no answer yet.\n");
        } else if (words.startsWith("/image ")) {
          try {
            images.push(await readImage(io, words.slice("/image ".length).trim()));
            notes.write(
              `${images.length === 1 ? "1 picture goes" : `${images.length} pictures go`} with the next question.\n`,
            );
          } catch (error) {
            stderr.write(`${describeFailure(error, false)}\n`);
            failed ||= !typed;
          }
        } else if (words.startsWith("/")) stderr.write(`${words} is not a command; /help lists them\n`);
        else if (words !== "") {
          answering = new AbortController();
          const { signal } = answering;
          const json = flags.json === true;
          const answer = await answerLine(io, talk, words, { signal, json, typed, view, images: images.splice(0) });
          answering = undefined;
          if (answer) last = answer;
          else failed ||= !signal.aborted;
        }
        if (io.signal.aborted) break;
        prompt();
      }
    } finally {
      io.signal.removeEventListener("abort", end);
      lines.close();
    }
    if (typed || io.signal.aborted) notes.write(`\nTo go on: citewell chat --conversation ${talk.id}\n`);
    io.signal.throwIfAborted();
    return failed ? exitCodes.failures : exitCodes.done;
  });
}

interface AnswerLine {
  readonly signal: AbortSignal;
  readonly images: readonly string[];
  readonly json: boolean;
  readonly typed: boolean;
  readonly view: AnswerView;
}

/** Answers one question. `undefined`: it failed or was stopped, and stderr says so. */
async function answerLine(
  io: CommandIo,
  talk: Conversation,
  question: string,
  { signal, images, json, typed, view }: AnswerLine,
): Promise<Answer | undefined> {
  try {
    const events = talk.ask(question, { images, signal });
    if (json) return await writeEvents(io, events);
    return await showAnswer(events, io, view);
  } catch (error) {
    const howToEnd = typed ? " Press Ctrl-C again to end the chat." : "";
    io.stderr.write(signal.aborted ? `\nStopped.${howToEnd}\n` : `\n${describeFailure(error, false)}\n`);
    return undefined;
  }
}

async function writeEvents({ stdout }: CommandIo, events: AsyncIterable<AnswerEvent>): Promise<Answer | undefined> {
  let answer: Answer | undefined;
  for await (const event of events) {
    stdout.write(`${JSON.stringify(event)}\n`);
    if (event.type === "finish") answer = event.answer;
  }
  return answer;
}
