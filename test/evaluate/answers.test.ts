// In test:all alone: it answers the questions of whole collections, for 21 s.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerWords, exactMatch, holdsAnswer, tokenF1 } from "../../src/evaluate/metrics.js";
import { sample } from "../../src/evaluate/collection.js";
import { evaluateAnswers, scoreAnswer, type AnswerScores } from "../../src/evaluate/evaluate-answers.js";
import type { Answer, Citation } from "../../src/core/types.js";
import { citewell, citewellJson } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

interface AnswersJson {
  readonly collection: string;
  readonly questions: number;
  readonly metrics: AnswerScores;
  readonly citations: {
    readonly near: number;
    readonly total: number;
    readonly supported: number;
    readonly literal: number;
  };
  readonly unanswerable: { readonly questions: number; readonly abstained: number };
  readonly errors: Readonly<Record<"wronglyAnswered" | "wronglyDeclined", { readonly share: number }>>;
}

describe("measures of an answer", () => {
  test("ignore case, punctuation and articles", () => {
    expect(exactMatch("The Saxon Garden.", ["Krasiński Garden", "saxon garden"])).toBe(1);
    expect(exactMatch("in the Saxon Garden", ["saxon garden"])).toBe(0);
    expect(answerWords("An A-class ＡＢ 密钥")).toEqual(["class", "ab", "密", "钥"]);
  });

  test("count shared words with the best answer, repetitions included", () => {
    expect(tokenF1("nobel prize prize", ["nobel prize"])).toBeCloseTo(0.8, 10);
    expect(tokenF1("the prize of 1911", ["unknown", "prize"])).toBeCloseTo(0.5, 10);
    expect(tokenF1("", ["prize"])).toBe(0);
  });

  test("find an answer only as whole words", () => {
    expect(holdsAnswer("born in 1745, in Warsaw", ["1745"])).toBe(true);
    expect(holdsAnswer("born in 17450", ["1745"])).toBe(false);
    expect(holdsAnswer("anything", ["the", "…"])).toBe(false);
  });

  test("find an answer in text whose numbers and Latin words run into Chinese or Japanese ones", () => {
    expect(answerWords("于2017年CAST成立のTV局").join(" ")).toBe("于 2017 年 cast 成 立 の tv 局");
    expect(holdsAnswer("公司成立于1994年5月30日，总部位于北京", ["1994年"])).toBe(true);
    expect(holdsAnswer("共设有13个出入口", ["3个"])).toBe(false);
  });

  test("are between 0 and 1, and 1 for equal texts", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        expect(tokenF1(text, [text])).toBe(1);
        expect(exactMatch(text, [text])).toBe(1);
        expect(tokenF1(text, [other])).toBeCloseTo(tokenF1(other, [text]), 10);
        expect(tokenF1(text, [other])).toBeLessThanOrEqual(1);
      }),
    );
  });
});

test("an unsupported citation lowers precision, and a citation of another document adds no recall", () => {
  const citation = (uri: string, quote: string, supported: boolean): Citation => {
    const support = supported ? "exact" : "missing";
    return { number: 1, chunkId: uri, uri, start: 0, end: quote.length, quote, supported, support };
  };
  const query = {
    id: "q",
    text: "When?",
    answers: ["1745"],
    judgements: new Map([
      ["a", 1],
      ["b", 1],
      ["c", 0],
    ]),
  };
  const of = (...citations: Citation[]) =>
    scoreAnswer(query, { text: "In 1745 [1].", answered: true, citations } as unknown as Answer, (uri) => uri);
  expect(of(citation("a", "born in 1745", true), citation("c", "so", true), citation("b", "no", false))).toEqual({
    exactMatch: 0,
    tokenF1: 2 / 3,
    topCitation: 1,
    anyCitation: 1,
    topCitationRecall: 1,
    topCitationDocument: 1,
    citationPrecision: 1 / 3,
    citationRecall: 1 / 2,
    answered: 1,
  });
  expect(of(citation("a", "born in 1745", false))).toMatchObject({
    topCitation: 0,
    anyCitation: 0,
    topCitationRecall: 0,
    topCitationDocument: 0,
    citationRecall: 0,
  });
  expect(of(citation("c", "born in 1745", true))).toMatchObject({ topCitation: 1, topCitationDocument: 0 });
  expect(of(citation("a", "so", true), citation("c", "in 1745", true))).toMatchObject({
    topCitation: 0,
    anyCitation: 1,
  });
  expect(of()).toMatchObject({ topCitation: 0, anyCitation: 0, citationPrecision: 0 });
});

test("citations are counted by their support, and supported ones whose quote is not the document's are found out", async () => {
  const document = "Keys expire after 90 days.";
  const citation = (support: Citation["support"], quote: string): Citation => {
    const supported = support === "exact" || support === "normalised";
    return { number: 1, chunkId: "c", uri: "a", start: 0, end: 4, quote, supported, support };
  };
  const citations = [
    citation("exact", "Keys"),
    citation("normalised", "keys"),
    citation("near", "Keys"),
    citation("missing", "Keys"),
  ];
  const usage = { inputTokens: 3, outputTokens: 2 };
  // The trailing white space must be read in steps that grow with its length, not with its square.
  const answer = { text: `90 days${" ".repeat(200_000)}`, answered: true, citations, usage } as unknown as Answer;
  const query = { id: "q", text: "When?", answers: ["90 days"], judgements: new Map([["a", 1]]) };
  const run = await evaluateAnswers([query], {
    ask: async () => answer,
    textOf: async () => document,
    documentId: (uri) => uri,
  });
  expect(run).toMatchObject({ citations: { total: 4, supported: 2, near: 1, literal: 1 }, usage, questions: 1 });
  expect(run.metrics).toMatchObject({ exactMatch: 1, citationPrecision: 0.5 });
});

test("of a long known answer that no quotation holds whole, the share that the first one has is told", () => {
  const quote = "Keys expire after 90 days";
  const citation: Citation = {
    number: 1,
    chunkId: "a",
    uri: "a",
    start: 0,
    end: quote.length,
    quote,
    supported: true,
    support: "exact",
  };
  const answers = ["Keys expire after 90 days unless they are renewed before", "keys of ten letters and more"];
  const query = { id: "q", text: "When?", answers, judgements: new Map([["a", 1]]) };
  const answer = { text: quote, answered: true, citations: [citation] } as unknown as Answer;
  expect(scoreAnswer(query, answer, (uri) => uri)).toMatchObject({
    topCitation: 0,
    topCitationRecall: 5 / 10,
    topCitationDocument: 1,
  });
});

test("a question without a known answer is counted, and not asked", async () => {
  const asked: string[] = [];
  const query = (id: string, answers: readonly string[]) => ({
    id,
    text: id,
    answers,
    judgements: new Map([["a", 1]]),
  });
  const run = await evaluateAnswers([query("known", ["90 days"]), query("unknown", [])], {
    ask: async (question) => {
      asked.push(question);
      return { text: "90 days", answered: true, citations: [] } as unknown as Answer;
    },
    textOf: async () => undefined,
    documentId: (uri) => uri,
  });
  expect(asked).toEqual(["known"]);
  expect(run).toMatchObject({ questions: 1, withoutAnswers: 1, metrics: { exactMatch: 1 } });
});

/** A collection of two documents, of which one question each is asked. */
function smallCollection(): Promise<string> {
  const lines = (...values: object[]) => values.map((value) => JSON.stringify(value)).join("\n");
  return temporaryFolder({
    "corpus.jsonl": lines(
      { _id: "laptops", text: "Laptops are replaced every four years. Old ones are recycled." },
      { _id: "keys", text: "The API key lasts 90 days. Only an administrator may rotate a key." },
    ),
    "queries.jsonl": lines(
      { _id: "1", text: "How often are laptops replaced?" },
      { _id: "2", text: "How long does the API key last?" },
    ),
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\tlaptops\t1\n2\tkeys\t1\n",
    "answers.jsonl": lines({ _id: "1", answers: ["four years"] }, { _id: "2", answers: ["90 days"] }),
  });
}

describe("citewell eval --answers", () => {
  test("reports right answers, and answers without their documents", async () => {
    const folder = await smallCollection();
    const run = await citewellJson<AnswersJson>(["eval", folder, "--answers"], {});
    expect(run).toMatchObject({
      questions: 2,
      metrics: { topCitation: 1, citationRecall: 1, answered: 1 },
      unanswerable: { questions: 2, abstained: 2 },
      errors: {
        wronglyAnswered: { share: 0, interval: [0, 0] },
        wronglyDeclined: { share: 0, interval: [0, 0] },
      },
    });
    expect(run.citations.literal).toBe(run.citations.supported);
    const { stdout } = await citewell(["eval", folder, "--answers"], {});
    expect(stdout).toMatch(/Top citation holds the answer +1\.000/);
    expect(stdout).toMatch(/Declined with the source +0\.000 \(0\.000-0\.000\)/);
    expect(stdout).toMatch(/Answered without the source +0\.000 \(0\.000-0\.000\)/);
  });

  test("hides the documents of a question from that question alone, and keeps a store that is used again", async () => {
    const folder = await smallCollection();
    // With all relevant documents gone, no question could be answered from another's.
    const qrels = "query-id\tcorpus-id\tscore\n1\tlaptops\t1\n2\tlaptops\t1\n";
    await writeFile(join(folder, "qrels/test.tsv"), qrels);
    const words = ["eval", folder, "--answers", "--store", join(folder, "store")];
    for (let run = 0; run < 2; run++) {
      const { errors } = await citewellJson<AnswersJson>(words, {});
      // The key's own document was called irrelevant, and still answers.
      expect(errors.wronglyAnswered.share).toBe(0.5);
    }
  });

  test("leaves out a question whose list of answers is empty, and says so", async () => {
    const folder = await smallCollection();
    await writeFile(join(folder, "answers.jsonl"), '{"_id":"1","answers":["four years"]}\n{"_id":"2","answers":[]}\n');
    const run = await citewellJson<AnswersJson>(["eval", folder, "--answers"], {});
    expect(run).toMatchObject({ questions: 1, withoutAnswers: 1, unanswerable: { questions: 1 } });
    const { stdout } = await citewell(["eval", folder, "--answers"], {});
    expect(stdout).toContain("1 question left out, without a known answer.");
    expect(stdout).toMatch(/Words of the answer in it +1\.000/);
    expect(stdout).toMatch(/Top citation, right document +1\.000/);
  });

  test("writes the result with the scores of every question", async () => {
    const folder = await smallCollection();
    await citewellJson(["eval", folder, "--answers", "--output", join(folder, "run.json")], {});
    const written = JSON.parse(await readFile(join(folder, "run.json"), "utf8")) as AnswersJson & {
      readonly scores: Readonly<Record<string, AnswerScores>>;
    };
    expect(written.scores).toMatchObject({ "1": { topCitation: 1 }, "2": { topCitation: 1 } });
    expect(written.metrics.topCitation).toBe(1);
  });

  test("a report of answers has each measure with its interval, and how long answers took", async () => {
    const folder = await smallCollection();
    const run = await citewellJson<AnswersJson>(
      ["eval", folder, "--answers", "--report", join(folder, "run.html")],
      {},
    );
    const html = await readFile(join(folder, "run.html"), "utf8");
    expect(html).toContain(`<th scope="row">Answered</th><td>${run.metrics.answered.toFixed(3)} <small>`);
    expect(html).toMatch(/<title>answer: median [\d.]+ m?s, /);
    expect(run).not.toHaveProperty("durationsMs");
  });

  test("a seed always draws the same sample, in the collection's order", () => {
    const items = Array.from({ length: 100 }, (_, index) => index);
    const drawn = sample(items, 10, 1);
    expect(drawn).toHaveLength(10);
    expect(drawn).toEqual(sample(items, 10, 1));
    expect(drawn).toEqual(drawn.toSorted((a, b) => a - b));
    expect(new Set([...drawn, ...sample(items, 10, 2)]).size).toBeGreaterThan(10);
    expect(sample(items, 1000, 3)).toEqual(items);
  });

  const squad = "../shared/data/squad";
  if (!existsSync(squad)) console.warn(`skipped: no questions of SQuAD at ${squad}`);
  // All 500 questions: top citation 0.758, abstained 0.688. With 30, chance alone moves either by 0.16 (95 %).
  test.skipIf(!existsSync(squad))(
    "answers and abstains on SQuAD, with every supported citation literal",
    async () => {
      const run = await citewellJson<AnswersJson>(["eval", squad, "--answers", "--limit-queries", "30"], {});
      expect(run.metrics.topCitation).toBeGreaterThanOrEqual(0.59);
      expect(run.unanswerable.abstained / run.unanswerable.questions).toBeGreaterThanOrEqual(0.56);
      expect(run.citations.literal).toBe(run.citations.supported);
      expect(run.citations.total).toBeGreaterThan(20);
    },
    120_000,
  );
});
