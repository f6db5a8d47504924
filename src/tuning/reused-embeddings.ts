import { appendFile, readFile } from "node:fs/promises";
import { z } from "zod";
import type { Embedder, EmbedCall, Embeddings, Store } from "../core/ports.js";
import { keyOfText } from "../text/chunking/chunk-identity.js";
import { BudgetReached } from "./chat-budget.js";

const KeptVector = z.object({ key: z.string(), vector: z.string() });

/** Services count differently from us: a request is taken to have so many more tokens, until replies tell. */
const firstMargin = 1.2;

/** Embeds for trials within a budget, and no text twice. */
export class ReusedEmbeddings {
  readonly #store: Pick<Store, "knownVectors">;
  readonly #path: string;
  readonly #maxTokens: number;
  readonly #questions = new Map<string, Float32Array>();
  #margin = firstMargin;
  #tokens: number;

  private constructor(store: Pick<Store, "knownVectors">, path: string, maxTokens: number, tokens: number) {
    this.#store = store;
    this.#path = path;
    this.#maxTokens = maxTokens;
    this.#tokens = tokens;
  }

  /**
   * @param path of the file that keeps vectors of questions, and how many tokens were paid.
   * @param maxTokens of all runs that use this file.
   */
  static async open(store: Pick<Store, "knownVectors">, path: string, maxTokens: number): Promise<ReusedEmbeddings> {
    const lines = (await readFile(path, "utf8").catch(() => "")).split("\n");
    let tokens = 0;
    const vectors: z.output<typeof KeptVector>[] = [];
    for (const line of lines) {
      const read = parsedLine(line);
      if (typeof read === "number") tokens += read;
      else if (read) vectors.push(read);
    }
    const reused = new ReusedEmbeddings(store, path, maxTokens, tokens);
    for (const { key, vector } of vectors) {
      const bytes = Uint8Array.from(Buffer.from(vector, "base64"));
      reused.#questions.set(key, new Float32Array(bytes.buffer));
    }
    return reused;
  }

  /** Tokens paid so far, in earlier runs too. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Tokens that may still be paid. */
  get left(): number {
    return Math.max(0, this.#maxTokens - this.#tokens);
  }

  /** The embedder with everything known in front of it. */
  before(embedder: Embedder): Embedder {
    const embed = (texts: readonly string[], call: EmbedCall = {}) => this.#embed(embedder, texts, call);
    return new Proxy(embedder, {
      get: (target, name) => (name === "embed" ? embed : (Reflect.get(target, name) as unknown)),
    });
  }

  async #embed(embedder: Embedder, texts: readonly string[], call: EmbedCall): Promise<Embeddings> {
    const keys = texts.map((text) => (call.purpose === "query" ? `${embedder.space} ${text}` : keyOfText(text)));
    const known = call.purpose === "query" ? this.#questions : await this.#store.knownVectors(keys);
    const missing = [...new Set(keys.flatMap((key, index) => (known.has(key) ? [] : [index])))];
    if (missing.length === 0) return { vectors: keys.map((key) => known.get(key)!), tokens: 0 };
    const sent = missing.map((index) => texts[index]!);
    const estimated = sent.reduce((sum, text) => sum + embedder.tokens.count(text), 0);
    if (estimated * this.#margin > this.left) {
      throw new BudgetReached(
        `maxTokens is ${this.#maxTokens}, and ${this.#tokens} were used: the next request may take more`,
      );
    }
    const { countedTokens: _, ...others } = call;
    const { vectors, tokens = estimated } = await embedder.embed(sent, others);
    this.#margin = Math.max(this.#margin, (1.05 * tokens) / Math.max(1, estimated));
    this.#tokens += tokens;
    const kept = [JSON.stringify(tokens)];
    const made = new Map(missing.map((index, place) => [keys[index]!, vectors[place]!]));
    if (call.purpose === "query") {
      for (const [key, vector] of made) {
        this.#questions.set(key, vector);
        const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
        kept.push(JSON.stringify({ key, vector: bytes.toString("base64") }));
      }
    }
    await appendFile(this.#path, `${kept.join("\n")}\n`);
    return { vectors: keys.map((key) => known.get(key) ?? made.get(key)!), tokens };
  }
}

/** A vector, or a number of tokens; `undefined` for the end of a file that was being written when the run was killed. */
function parsedLine(line: string): z.output<typeof KeptVector> | number | undefined {
  try {
    return z.union([KeptVector, z.number()]).parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
