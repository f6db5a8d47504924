import { createReadStream } from "node:fs";
import { z } from "zod";
import { asError, LoadError } from "../core/errors.js";

/** An id in a JSON line. Collections made by scripts number their lines, while judgements only have the digits. */
export const LineId = z.union([z.string().min(1), z.int().transform(String)]);

/**
 * Values of a file with one JSON value a line, read as they are asked for, each with the number of its line.
 *
 * @throws LoadError (`malformed`) that names the line which is not JSON or has another shape.
 */
export async function* jsonLines<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  signal?: AbortSignal,
): AsyncGenerator<{ readonly lineNumber: number; readonly value: z.output<Schema> }> {
  for await (const { number, text } of numberedLines(path, signal)) {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (error) {
      throw malformed(path, number, `is not valid JSON: ${asError(error).message}`, error);
    }
    const parsed = schema.safeParse(json);
    if (!parsed.success) {
      const problems = parsed.error.issues.map(({ path: field, message }) =>
        [field.join("."), message].filter(Boolean).join(": "),
      );
      throw malformed(path, number, `has the wrong shape: ${problems.join("; ")}`, parsed.error);
    }
    yield { lineNumber: number, value: parsed.data };
  }
}

/** One line of a text file, without its end. */
export interface NumberedLine {
  /** Number of the line, from 1. */
  readonly number: number;
  readonly text: string;
}

const maxLineCharacters = 64 * 2 ** 20;

/**
 * The lines of a file that are not blank, one at a time, with no more in memory than one line and one block of the file.
 * Only LF ends a line, with or without CR before it: JSON strings may contain U+2028, where Node's readline would cut.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) for a line longer than 64 Mi characters.
 */
export async function* numberedLines(path: string, signal?: AbortSignal): AsyncGenerator<NumberedLine> {
  let number = 0;
  let rest = "";
  const line = (text: string): NumberedLine => ({ number, text: text.endsWith("\r") ? text.slice(0, -1) : text });
  for await (const block of textOf(path, signal)) {
    const parts = block.split("\n");
    parts[0] = rest + parts[0]!;
    rest = parts.pop()!;
    for (const text of parts) {
      number++;
      if (text.trim() !== "") yield line(text);
    }
    if (rest.length > maxLineCharacters) {
      throw malformed(path, number + 1, `is longer than ${maxLineCharacters} characters`);
    }
  }
  number++;
  if (rest.trim() !== "") yield line(rest);
}

/** The text of a file, in blocks. */
async function* textOf(path: string, signal: AbortSignal | undefined): AsyncGenerator<string> {
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

/** An error about one line: `Line 3 of corpus.jsonl has no _id`. */
export function malformed(path: string, lineNumber: number, problem: string, cause?: unknown): LoadError {
  return new LoadError("malformed", path, `Line ${lineNumber} of ${path} ${problem}`, { cause });
}
