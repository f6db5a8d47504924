import { z } from "zod";
import { jsonLines, LineId } from "./json-lines.js";

const AnswerLine = z.object({ _id: LineId, answers: z.array(z.string().min(1)).min(1) });

/**
 * Answers by query id, of a file with `{"_id", "answers": […]}` a line.
 *
 * @throws LoadError (`missing`, `unreadable`), (`malformed`) with the number of the line.
 */
export async function readAnswers(path: string, signal?: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for await (const { value } of jsonLines(path, AnswerLine, signal)) {
    const { _id: id, answers } = value;
    found.set(id, answers);
  }
  return found;
}
