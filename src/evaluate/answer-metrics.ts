const articles = new Set(["a", "an", "the"]);

/**
 * A text as answers are compared: lower case, without marks and English articles, in words; characters of scripts
 * without spaces count as words. After Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text",
 * EMNLP 2016.
 */
export function answerWords(text: string): readonly string[] {
  const words = text
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu);
  return (words ?? []).filter((word) => !articles.has(word));
}

/** 1 when the text says one of the answers and nothing else, 0 otherwise. */
export function exactMatch(text: string, answers: readonly string[]): number {
  const words = answerWords(text).join(" ");
  return answers.some((answer) => answerWords(answer).join(" ") === words) ? 1 : 0;
}

/** F1 of the words that text and answer share, repetitions counted; of several answers the best. 0 to 1. */
export function tokenF1(text: string, answers: readonly string[]): number {
  const said = answerWords(text);
  return Math.max(0, ...answers.map((answer) => sharedF1(said, answerWords(answer))));
}

function sharedF1(said: readonly string[], wanted: readonly string[]): number {
  if (said.length === 0 || wanted.length === 0) return said.length === wanted.length ? 1 : 0;
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of said) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    shared++;
  }
  return (2 * shared) / (said.length + wanted.length);
}

/** Whether a text holds one of the answers, word for word. */
export function holdsAnswer(text: string, answers: readonly string[]): boolean {
  const words = ` ${answerWords(text).join(" ")} `;
  return answers.some((answer) => {
    const wanted = answerWords(answer).join(" ");
    return wanted !== "" && words.includes(` ${wanted} `);
  });
}
