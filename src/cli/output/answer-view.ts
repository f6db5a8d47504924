import type { CommandIo } from "../command-context.js";
import { linkedPlaces, plainPlace, type LinkPlace } from "./source-link.js";
import { safeForTerminal } from "./terminal-text.js";

/** Output format of an answer and its sources. */
export interface AnswerView {
  /** Writes the next piece of the answer. */
  readonly write: (text: string) => void;
  /** Writes text that was held back for more. */
  readonly end: () => void;
  readonly link: LinkPlace;
  /** Highlights a remark about a source. */
  readonly remark: (text: string) => string;
  /** Highlights a word that the question asks about. */
  readonly telling: (word: string) => string;
}

/** Plain Markdown and paths, for files, pipes, and terminals that show nothing else. */
export function plainView({ stdout }: Pick<CommandIo, "stdout">): AnswerView {
  return {
    write: (text) => void stdout.write(safeForTerminal(text)),
    end: () => {},
    link: plainPlace,
    remark: (text) => text,
    telling: (word) => word,
  };
}

/** On a terminal, Markdown as headings, lists, bold and colours. `NO_COLOR` turns that off (https://no-color.org). */
export async function answerView(io: Pick<CommandIo, "stdout" | "environment">): Promise<AnswerView> {
  const { stdout, environment } = io;
  if (!stdout.isTTY || environment["NO_COLOR"] || environment["TERM"] === "dumb") return plainView(io);
  const [{ MarkdownStream }, { styled }] = await Promise.all([
    import("./markdown-stream.js"),
    import("./inline-markdown.js"),
  ]);
  const markdown = new MarkdownStream(stdout);
  return {
    write: (text) => markdown.write(text),
    end: () => markdown.end(),
    link: await linkedPlaces(stdout, environment),
    remark: (text) => styled(text, "warning"),
    telling: (word) => styled(word, "bold"),
  };
}
