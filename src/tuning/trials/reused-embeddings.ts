import { z } from "zod";
import type { Embedder, EmbedCall, Embeddings, Store } from "../../core/ports.js";
import { keyOfText } from "../../text/chunking/chunk-identity.js";
import { keepLines, keptLines } from "./kept-lines.js";
import type { TuningBudget } from "./tuning-budget.js";

/** A vector of a question, or a number of tokens that were paid. */
const KeptLine = z.union([z.number(), z.object({ key: z.string(), vector: z.string() })]);

/** The store of the knowledge base, whose vectors of texts are reused where they are of the same space. */
type KnownVectors = Pick<Store, "knownVectors"> & { readonly space: string };

/** Embeds for trials within a budget, and no text twice. */
export class ReusedEmbeddings {
  readonly #known: KnownVectors;
  readonly #path: string;
  readonly #budget: TuningBudget;
  readonly #questions = new Map<string, Float32Array>();

  private constructor(known: KnownVectors, path: string, budget: TuningBudget) {
    this.#known = known;
    this.#path = path;
    this.#budget = budget;
  }

  /** @param path of the file that keeps vectors of questions, and how many tokens were paid. */
  static async open(known: KnownVectors, path: string, budget: TuningBudget): Promise<ReusedEmbeddings> {
    const reused = new ReusedEmbeddings(known, path, budget);
    for (const line of await keptLines(path, KeptLine)) {
      if (typeof line === "number") budget.settle("embedding", line);
      else {
        const bytes = Uint8Array.from(Buffer.from(line.vector, "base64"));
        reused.#questions.set(line.key, new Float32Array(bytes.buffer));
      }
    }
    return reused;
  }

  /** The embedder with everything known in front of it. */
  before(embedder: Embedder): Embedder {
    const embed = (texts: readonly string[], call: EmbedCall = {}) => this.#embed(embedder, texts, call);
    return new Proxy(embedder, {
      get: (target, name) => (name === "embed" ? embed : (Reflect.get(target, name) as unknown)),
    });
  }

  async #embed(embedder: Embedder, texts: readonly string[], call: EmbedCall): Promise<Embeddings> {
    const isQuestion = call.purpose === "query";
    const keys = texts.map((text) => (isQuestion ? `${embedder.space} ${text}` : keyOfText(text)));
    const known = isQuestion ? this.#questions : await this.#vectorsOf(keys, embedder);
    const missing = [...new Set(keys.flatMap((key, index) => (known.has(key) ? [] : [index])))];
    if (missing.length === 0) return { vectors: keys.map((key) => known.get(key)!), tokens: 0 };
    const sent = missing.map((index) => texts[index]!);
    const estimated = sent.reduce((sum, text) => sum + embedder.tokens.count(text), 0);
    const { countedTokens: _, ...others } = call;
    const { vectors, tokens } = await this.#budget.pay("embedding", estimated, () => embedder.embed(sent, others));
    const made = new Map(missing.map((index, place) => [keys[index]!, vectors[place]!]));
    const kept: unknown[] = [tokens];
    if (isQuestion) {
      for (const [key, vector] of made) {
        this.#questions.set(key, vector);
        const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
        kept.push({ key, vector: bytes.toString("base64") });
      }
    }
    await keepLines(this.#path, kept);
    return { vectors: keys.map((key) => known.get(key) ?? made.get(key)!), tokens };
  }

  /** The vectors of another model are of no use. */
  async #vectorsOf(keys: readonly string[], { space }: Embedder): Promise<ReadonlyMap<string, Float32Array>> {
    return space === this.#known.space ? this.#known.knownVectors(keys) : new Map();
  }
}
