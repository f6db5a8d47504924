import { isFunctionWord } from "../../text/words/function-words.js";
import { terms } from "../../text/words/terms.js";

/** Marks the words of a line that share a stem with a telling word of the question; in Chinese, pairs of characters. */
export function tellingWords(question: string, mark: (word: string) => string): (line: string) => string {
  const asked = new Set(terms(question).filter((term) => !isFunctionWord(term, "chinese")));
  const tells = (word: string) => terms(word).some((term) => asked.has(term));
  return (line) =>
    line
      .replace(/(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu, (word) => (tells(word) ? mark(word) : word))
      .replace(/\p{Script=Han}{2,}/gu, (run) => markedPairs(run, tells, mark));
}

function markedPairs(run: string, tells: (pair: string) => boolean, mark: (word: string) => string): string {
  const characters = Array.from(run);
  const isTold = characters.map(() => false);
  for (const [index, character] of characters.entries()) {
    const next = characters[index + 1];
    if (next !== undefined && tells(character + next)) isTold[index] = isTold[index + 1] = true;
  }
  let shown = "";
  for (let from = 0, to = 0; from < characters.length; from = to) {
    while (to < characters.length && isTold[to] === isTold[from]) to++;
    const part = characters.slice(from, to).join("");
    shown += isTold[from] ? mark(part) : part;
  }
  return shown;
}
