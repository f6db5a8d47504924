import { appendFile, readFile } from "node:fs/promises";
import { z } from "zod";

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
    for (const line of (await readFile(path, "utf8").catch(() => "")).split("\n")) {
      const read = parsedLine(line);
      if (read?.content === content) kept.#gains.set(keyOf(read.settings, read.question), read.gain);
    }
    return kept;
  }

  gain(settings: string, question: string): number | undefined {
    return this.#gains.get(keyOf(settings, question));
  }

  async keep(settings: string, question: string, gain: number): Promise<void> {
    this.#gains.set(keyOf(settings, question), gain);
    await appendFile(this.#path, `${JSON.stringify({ content: this.#content, settings, question, gain })}\n`);
  }
}

function keyOf(settings: string, question: string): string {
  return `${settings}\n${question}`;
}

/** `undefined` for the end of a file that was being written when the run was killed. */
function parsedLine(line: string): z.output<typeof Measured> | undefined {
  try {
    return Measured.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
