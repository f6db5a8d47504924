import { createReadStream } from "node:fs";
import { asError, LoadError } from "../errors.js";

/** One line of a text file, without its end. */
export interface NumberedLine {
  /** 1-based. */
  readonly number: number;
  readonly text: string;
}

const longestLineCharacters = 64 * 2 ** 20;

/**
 * Lines of a file that are not blank, one at a time: no more is held than one line and one block of the file. Only LF
 * ends a line, with or without CR before it: JSON strings may hold U+2028 as it is, at which Node's readline would cut.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) for a line longer than 64 Mi characters.
 */
export async function* numberedLines(path: string, signal?: AbortSignal): AsyncGenerator<NumberedLine> {
  let number = 0;
  let rest = "";
  const line = (text: string): NumberedLine => ({ number, text: text.endsWith("\r") ? text.slice(0, -1) : text });
  for await (const block of blocks(path, signal)) {
    const parts = (rest + block).split("\n");
    rest = parts.pop()!;
    for (const text of parts) {
      number++;
      if (text.trim() !== "") yield line(text);
    }
    if (rest.length > longestLineCharacters) {
      throw malformed(path, number + 1, `is longer than ${longestLineCharacters} characters`);
    }
  }
  number++;
  if (rest.trim() !== "") yield line(rest);
}

/** The file's text, in pieces. */
async function* blocks(path: string, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  const stream = createReadStream(path);
  try {
    for await (const bytes of stream) {
      signal?.throwIfAborted();
      yield decoder.decode(bytes as Buffer, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    signal?.throwIfAborted();
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new LoadError("missing", path, `There is no file ${path}`, { cause: error });
    throw new LoadError("unreadable", path, `Cannot read ${path}: ${asError(error).message}`, { cause: error });
  } finally {
    stream.destroy();
  }
}

/** What is wrong with one line: `line 3 of corpus.jsonl has no _id`. */
export function malformed(path: string, lineNumber: number, problem: string, cause?: unknown): LoadError {
  return new LoadError("malformed", path, `Line ${lineNumber} of ${path} ${problem}`, { cause });
}
