import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import type { Conversation } from "../conversation.js";
import type { AskOptions } from "../knowledge-base-options.js";
import type { Answer, AnswerEvent } from "../types.js";
import { show } from "./ask-command.js";
import { withKnowledgeBase, type StoreFlags, type World } from "./command-context.js";
import { describeFailure, exitCodes } from "./failure.js";
import { describeSources } from "./show-sources.js";

export interface ChatFlags extends StoreFlags {
  readonly conversation?: string;
}

const help = `/sources  what the last answer rests on
/new      begin another conversation
/quit     end; so do Ctrl-D, and Ctrl-C where nothing is typed. Ctrl-C stops an answer
`;

/** A conversation, one question a line: typed, or piped in. */
export async function chatCommand(world: World, flags: ChatFlags): Promise<number> {
  const { stdin, stdout, stderr } = world;
  const typed = stdin.isTTY && flags.json !== true;
  return withKnowledgeBase(world, flags, false, async (kb) => {
    let talk = kb.conversation({ id: flags.conversation ?? randomUUID() });
    let last: Answer | undefined;
    let failed = false;
    let answering: AbortController | undefined;
    const lines = createInterface({ input: stdin, terminal: typed, ...(typed && { output: stdout }) });
    const stopAnswer = () => answering?.abort(new DOMException("Stopped by Ctrl-C", "AbortError"));
    // In a terminal Ctrl-C comes as a key; from elsewhere as a signal, which ends the command.
    lines.on("SIGINT", () => {
      if (answering) stopAnswer();
      else if (lines.line === "") lines.close();
      else {
        // What shells do: the line is given up, the program is not.
        lines.write(null, { ctrl: true, name: "e" });
        lines.write(null, { ctrl: true, name: "u" });
      }
    });
    const end = () => {
      stopAnswer();
      lines.close();
    };
    world.signal.addEventListener("abort", end);
    lines.setPrompt("> ");
    const prompt = () => {
      if (typed) lines.prompt();
    };
    if (typed) stderr.write(`Conversation ${talk.id}. /help says what can be done.\n`);
    prompt();
    try {
      for await (const line of lines) {
        const words = line.trim();
        if (words === "/quit") break;
        if (words === "/help") stdout.write(help);
        else if (words === "/new") {
          talk = kb.conversation({ id: randomUUID() });
          last = undefined;
          stderr.write(`Conversation ${talk.id}\n`);
        } else if (words === "/sources") {
          stdout.write(last ? describeSources(last, world.directory) : "Nothing was answered yet.\n");
        } else if (words.startsWith("/")) stderr.write(`${words} is no command; /help lists them\n`);
        else if (words !== "") {
          answering = new AbortController();
          const { signal } = answering;
          const answer = await answerLine(world, talk, words, { signal, json: flags.json === true, typed });
          answering = undefined;
          if (answer) last = answer;
          else failed ||= !signal.aborted;
        }
        if (world.signal.aborted) break;
        prompt();
      }
    } finally {
      world.signal.removeEventListener("abort", end);
      lines.close();
    }
    if (typed || world.signal.aborted) stderr.write(`\nTo go on: citewell chat --conversation ${talk.id}\n`);
    world.signal.throwIfAborted();
    return failed ? exitCodes.failures : exitCodes.done;
  });
}

/** The answer, or nothing when it failed or was stopped, which has been said then. */
async function answerLine(
  world: World,
  talk: Conversation<AskOptions>,
  question: string,
  { signal, json, typed }: { readonly signal: AbortSignal; readonly json: boolean; readonly typed: boolean },
): Promise<Answer | undefined> {
  const events = talk.ask(question, { signal });
  if (json) return writeEvents(world, events);
  try {
    return await show(events, world);
  } catch (error) {
    const howToEnd = typed ? " Ctrl-C once more ends." : "";
    world.stderr.write(signal.aborted ? `\nStopped.${howToEnd}\n` : `\n${describeFailure(error, false)}\n`);
    return undefined;
  }
}

async function writeEvents({ stdout }: World, events: AsyncIterable<AnswerEvent>): Promise<Answer | undefined> {
  let answer: Answer | undefined;
  for await (const event of events) {
    stdout.write(`${JSON.stringify(event.type === "error" ? { ...event, error: errorAsJson(event.error) } : event)}\n`);
    if (event.type === "finish") answer = event.answer;
  }
  return answer;
}

function errorAsJson(error: Error): object {
  return { name: error.name, ...("code" in error && { code: error.code }), message: error.message };
}
