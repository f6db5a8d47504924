/** Limits of the memory that they take; the oldest are forgotten first. */
const maxAnswers = 1000;
const maxCharacters = 20_000_000;

/**
 * Texts of answers that no conversation keeps, by the ids of their messages: clients refer to a message by its id in place of
 * sending it again, for as long as they were not told that it is not stored.
 */
export class RecentAnswers {
  readonly #texts = new Map<string, string>();
  #characters = 0;

  /** @param reader name of the permissions of who got it, and who alone gets it again. */
  add(reader: string, id: string, text: string): void {
    this.#texts.set(keyOf(reader, id), text);
    this.#characters += text.length;
    for (const [key, oldest] of this.#texts) {
      if (this.#texts.size <= maxAnswers && this.#characters <= maxCharacters) break;
      this.#texts.delete(key);
      this.#characters -= oldest.length;
    }
  }

  get(reader: string, id: string): string | undefined {
    return this.#texts.get(keyOf(reader, id));
  }
}

function keyOf(reader: string, id: string): string {
  return JSON.stringify([reader, id]);
}
