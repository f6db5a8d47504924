import { z } from "zod";
import { keepLines, keptLines } from "./kept-lines.js";

const Measured = z.object({ content: z.string(), settings: z.string(), question: z.string(), gain: z.number() });

/** Gains that were measured, kept in a file as they come, so that a run which was killed measures none again. */
export class MeasuredGains {
  readonly #path: string;
  readonly #content: string;
  readonly #gains = new Map<string, number>();

  private constructor(path: string, content: string) {
    this.#path = path;
    this.#content = content;
  }

  /** @param content names the documents and questions: what was measured on others does not count. */
  static async open(path: string, content: string): Promise<MeasuredGains> {
    const kept = new MeasuredGains(path, content);
    for (const line of await keptLines(path, Measured)) {
      if (line.content === content) kept.#gains.set(keyOf(line.settings, line.question), line.gain);
    }
    return kept;
  }

  gain(settings: string, question: string): number | undefined {
    return this.#gains.get(keyOf(settings, question));
  }

  async keep(settings: string, question: string, gain: number): Promise<void> {
    this.#gains.set(keyOf(settings, question), gain);
    await keepLines(this.#path, [{ content: this.#content, settings, question, gain }]);
  }
}

function keyOf(settings: string, question: string): string {
  return `${settings}\n${question}`;
}
