/** Whether a text is Chinese rather than English or Japanese: a question is answered, and a reader is told things, in its language. */
export function isChinese(text: string): boolean {
  return /\p{Script=Han}/u.test(text) && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);
}
