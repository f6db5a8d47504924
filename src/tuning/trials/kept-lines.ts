import { appendFile, readFile } from "node:fs/promises";
import type { z } from "zod";

/**
 * Values of a file of JSON, one a line. Lines that do not fit are left out: the last may have been cut when a run was killed.
 */
export async function keptLines<Line>(path: string, line: z.ZodType<Line>): Promise<readonly Line[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").flatMap((written) => {
    try {
      return [line.parse(JSON.parse(written))];
    } catch {
      return [];
    }
  });
}

/** Adds values to such a file. A line break comes first, so that a line that was cut spoils none behind it. */
export async function keepLines(path: string, values: readonly unknown[]): Promise<void> {
  await appendFile(path, values.map((value) => `\n${JSON.stringify(value)}`).join(""));
}
