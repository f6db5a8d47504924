import type { Filter } from "../filter.js";
import type { AnswerEvent, Answer } from "../types.js";
import { withKnowledgeBase, type StoreFlags, type World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { hitAsJson } from "./search-command.js";
import { describeSources } from "./show-sources.js";
import { safeForTerminal } from "./terminal-text.js";

export interface AskFlags extends StoreFlags {
  readonly filter?: Filter;
}

export async function askCommand(world: World, question: string, flags: AskFlags): Promise<number> {
  return withKnowledgeBase(world, flags, false, async (kb) => {
    const events = kb.ask(question, { ...(flags.filter && { filter: flags.filter }), signal: world.signal });
    const answer = await (flags.json ? lastOf(events) : show(events, world)).catch((error: unknown) => {
      if (world.signal.aborted) world.stderr.write("\nStopped. Run the same command again for the whole answer.\n");
      throw error;
    });
    if (flags.json) world.stdout.write(`${JSON.stringify(answerAsJson(answer))}\n`);
    return exitCodes.done;
  });
}

/** Writes the answer as it comes, then its sources. */
export async function show(
  events: AsyncIterable<AnswerEvent>,
  world: Pick<World, "stdout" | "stderr" | "directory">,
): Promise<Answer> {
  // On a terminal a note stands below the text that it comes in the midst of, not behind it.
  let open = false;
  const note = (line: string) => {
    world.stderr.write(`${open && world.stderr.isTTY ? "\n" : ""}${line}\n`);
    open = false;
  };
  const answer = await lastOf(events, (event) => {
    if (event.type === "text-delta") {
      world.stdout.write(safeForTerminal(event.text));
      open ||= event.text !== "";
    }
    if (event.type === "tool-call") note(`[calls ${event.name}]`);
    if (event.type === "warning") note(`citewell: ${safeForTerminal(event.message)}`);
  });
  world.stdout.write(`\n\n${describeSources(answer, world.directory)}`);
  return answer;
}

async function lastOf(
  events: AsyncIterable<AnswerEvent>,
  see: (event: AnswerEvent) => void = () => {},
): Promise<Answer> {
  for await (const event of events) {
    if (event.type === "error") throw event.error;
    if (event.type === "finish") return event.answer;
    see(event);
  }
  throw new Error("The answer ended without an end event");
}

function answerAsJson({ text, answered, citations, hits, usage, account, model, warnings }: Answer): object {
  return { answer: text, answered, citations, hits: hits.map(hitAsJson), usage, account, model, warnings };
}
