import type { lexicalVector as LexicalVector } from "../src/local/engines/embedding/lexical-embedding.js";
import type { lexicalRerank as LexicalRerank } from "../src/local/engines/rerank/lexical-rerank.js";
import { aimsOf } from "./aims.js";
import type { Benchmark, RunContext } from "./runner/benchmark.js";
import { readMarkdown } from "./runner/corpus.js";
import { shipped } from "./runner/project.js";
import { plainCount } from "./shared/peer-splitters.js";

const passageTokens = 300;
const rerankedPassages = 50;
const dimension = 1024;

/** The two engines that work on many texts; `check` is given what they made of two texts. */
export interface Engines {
  readonly embed: (text: string) => ArrayLike<number>;
  readonly rerank: (question: string, texts: readonly string[]) => Promise<readonly number[]> | readonly number[];
  /** Whether what it makes is compared with what is expected of it. */
  readonly isLimit?: boolean;
}

export const benchmark: Benchmark<Engines> = {
  name: "local",
  question: "How fast are the engines of the local service, which stand in for models?",
  method:
    "Passages of some 300 tokens, cut from Markdown, embedded one by one after 1,000 as warm-up, and 50 of them reranked for each of " +
    "`questions` questions made of their words, a tenth of which warm up first. The limit only reads each text once and counts its words. The engines are called " +
    "in their process, so HTTP is left out. An embedding that is not of length 1, or a passage of the question's own words " +
    "that is not reranked to the top, fails.",
  contenders: [
    { name: "counting words", kind: "limit", load: async () => counting },
    { name: "citewell", kind: "citewell", load: ours },
  ],
  beside: "counting words",
  measures: {
    embedded: { unit: "passages/CPU s", better: "higher" },
    reranked: { unit: "CPU ms/50 passages", better: "lower" },
  },
  sizes: { smoke: { passages: 300, questions: 20 }, usual: { passages: 3000, questions: 200 } },
  rounds: 3,
  aims: aimsOf("local"),
  corpus: "markdown",
  measure: measureEngines,
};

const counting: Engines = {
  embed: (text) => [text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0],
  rerank: (_, texts) => texts.map((text) => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0),
  isLimit: true,
};

async function ours(): Promise<Engines> {
  const { lexicalVector } = await shipped<{ readonly lexicalVector: typeof LexicalVector }>(
    "local/engines/embedding/lexical-embedding.js",
  );
  const { lexicalRerank } = await shipped<{ readonly lexicalRerank: typeof LexicalRerank }>(
    "local/engines/rerank/lexical-rerank.js",
  );
  const engine = lexicalRerank();
  const { signal } = new AbortController();
  const model = { id: "rerank", type: "rerank" } as const;
  return {
    embed: (text) => lexicalVector(text, dimension),
    rerank: (question, texts) =>
      engine.score(question, texts, { model, signal, maxChunksPerDocument: 1024, overlapTokens: 80 }),
  };
}

async function measureEngines({ embed, rerank, isLimit }: Engines, { size, corpus, timed }: RunContext<undefined>) {
  const passages = passagesOf(corpus, size["passages"]!);
  for (const text of passages.slice(0, 1000)) embed(text);
  const embedding = await timed(() => passages.map(embed));
  for (const vector of isLimit ? [] : embedding.result) {
    const length = Math.hypot(...Array.from(vector));
    if (Math.abs(length - 1) > 1e-3) throw new Error(`an embedding has the length ${length}, not 1`);
  }
  const groups = Array.from({ length: size["questions"]! }, (_, at) => {
    const texts = Array.from(
      { length: rerankedPassages },
      (__, place) => passages[(at * 7 + place) % passages.length]!,
    );
    return { texts, question: texts[at % texts.length]!.split(/\s+/).slice(0, 12).join(" "), place: at % texts.length };
  });
  for (const { texts, question } of groups.slice(0, groups.length / 10)) await rerank(question, texts);
  const reranking = await timed(async () => {
    let found = 0;
    for (const { texts, question, place } of groups) {
      const scores = await rerank(question, texts);
      if (scores[place]! >= Math.max(...scores)) found++;
    }
    return found;
  });
  const share = reranking.result / groups.length;
  if (!isLimit && share < 0.5)
    throw new Error(`only ${reranking.result} of ${groups.length} questions found their passage`);
  return {
    embedded: passages.length / embedding.cpuSeconds,
    reranked: (1000 * reranking.cpuSeconds) / groups.length,
  };
}

/** Texts with about as many tokens as a chunk; a short corpus is read again from its beginning. */
function passagesOf(corpus: string, count: number): readonly string[] {
  const paragraphs = readMarkdown(corpus).flatMap(({ text }) => text.split("\n\n"));
  const found: string[] = [];
  let passage = "";
  for (let at = 0; found.length < count; at++) {
    passage += `${paragraphs[at % paragraphs.length]}\n\n`;
    if (passage.length < 2 * passageTokens || plainCount(passage) < passageTokens) continue;
    found.push(passage);
    passage = "";
  }
  return found;
}
