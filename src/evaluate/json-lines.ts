import { z } from "zod";
import { asError } from "../errors.js";
import { malformed, numberedLines } from "./numbered-lines.js";

/** An id in such a file. Collections made by scripts number their lines, where judgements can only have the digits. */
export const LineId = z.union([z.string().min(1), z.int().transform(String)]);

/**
 * Values of a file with one JSON value a line, read as they are asked for, each with the number of its line.
 *
 * @throws LoadError (`malformed`) that names the line which is no JSON, or not of this shape.
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
      throw malformed(path, number, `is not what it should be: ${problems.join("; ")}`, parsed.error);
    }
    yield { lineNumber: number, value: parsed.data };
  }
}
