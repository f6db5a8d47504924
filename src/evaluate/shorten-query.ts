import { AnswerError } from "../errors.js";
import { safeEnd } from "../text/cut-text.js";

/**
 * Asks a query, or as much of its beginning as the models take: some collections' queries are whole documents, and one of
 * them must not end a measurement of thousands. An eighth is taken off its end at a time, between words where there are
 * any; refusing a query sends nothing, so the tries cost no request.
 */
export async function shortenQuery<Result>(
  query: string,
  ask: (query: string) => Promise<Result>,
): Promise<{ readonly result: Result; readonly shortened: boolean }> {
  for (let text = query; ; text = withoutEnd(text)) {
    try {
      return { result: await ask(text), shortened: text !== query };
    } catch (error) {
      if (!(error instanceof AnswerError && error.code === "question-too-long") || text.length < 16) throw error;
    }
  }
}

function withoutEnd(text: string): string {
  const most = text.slice(0, safeEnd(text, Math.floor((text.length * 7) / 8)));
  const lastSpace = most.lastIndexOf(" ");
  return lastSpace > most.length / 2 ? most.slice(0, lastSpace) : most;
}
