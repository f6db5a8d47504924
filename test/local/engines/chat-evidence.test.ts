import { expect, test } from "vitest";
import { readQuestion } from "../../../src/local/engines/chat/question/question-reading.js";
import { lowerWords, unusualness } from "../../../src/local/engines/chat/question/written-words.js";
import { evidenceOf } from "../../../src/local/engines/chat/statements/evidence.js";
import { bestPassage } from "../../../src/local/engines/chat/statements/passages.js";
import { scoreStatements } from "../../../src/local/engines/chat/statements/statement-score.js";
import { statements } from "../../../src/local/engines/chat/statements/statements.js";

/** The evidence of the first sentence of each text, a source of its own, were they scored alike but for `scores`. */
function evidence(question: string, texts: readonly string[], scores: readonly number[] = []): readonly number[] {
  const all = texts.flatMap((text, index) => statements({ number: index, title: "", text }));
  const reading = readQuestion(question, all);
  const candidates = texts.map((_, index) => ({
    places: [all.findIndex(({ source }) => source === index)],
    source: reading.sources.get(index)!,
    statementScore: 1,
    score: scores[index] ?? 1,
  }));
  return evidenceOf(reading, candidates);
}

function difference([first, second]: readonly number[]): number {
  return first! - second!;
}

test("an unusual word that a source holds is more evidence than a common one", () => {
  const found = evidence("Which people sailed the lifeboat?", ["It had a lifeboat.", "It had people."]);
  expect(difference(found)).toBeGreaterThan(0.3);
});

test("a word that every source holds is less evidence than one that few hold", () => {
  const question = "Which lifeboat had thylakoids?";
  const few = evidence(question, ["A lifeboat is there.", "A house is there.", "A garden is there."]);
  const every = evidence(question, ["A lifeboat is there.", "The lifeboat is there.", "Any lifeboat is there."]);
  expect(few[0]).toBeGreaterThan(every[0]! + 0.2);
});

test("a source that lacks a name or a number of the question is less evidence", () => {
  const texts = ["The bridge is old.\n\nIts stones are of 1902.", "The bridge is old.\n\nIts stones are of 1903."];
  expect(difference(evidence("Who opened the bridge in 1902?", texts))).toBeGreaterThan(1);
});

test("words that stand side by side as in the question are more evidence than the same words in another order", () => {
  const found = evidence("How many granal thylakoids are there?", [
    "Here are granal thylakoids.",
    "Here are thylakoids granal.",
  ]);
  expect(difference(found)).toBeCloseTo(0.3);
});

test("a word in the form of the question is more evidence than another form", () => {
  const found = evidence("Which mill grinds?", ["The mill grinds.", "The mill was grinding."]);
  expect(difference(found)).toBeGreaterThan(0.9);
});

test("a passage ahead of those of other sources is more evidence, up to a limit", () => {
  const texts = ["The mill is old.", "The mill is old."];
  const of = (lead: number) => evidence("Is the mill old?", texts, [1 + lead, 1])[0]!;
  expect(of(2)).toBeCloseTo(of(0) + 1);
  expect(of(9)).toBe(of(3));
});

test("the quote comes from the source with the most evidence, not the passage with the highest score", () => {
  const texts = ["The millers repaired two mills of Hollberg.", "The miller did repair a mill of Hollberg."];
  const all = texts.flatMap((text, index) => statements({ number: index + 1, title: "", text }));
  const reading = readQuestion("Which mill of Hollberg did the miller repair?", all);
  const scored = scoreStatements(reading);
  expect(scored[0]?.statement.source).toBe(1);
  expect(bestPassage(reading, scored)?.statements[0]?.source).toBe(2);
});

test("a word is the more unusual the less it is written, whether with a capital or without", () => {
  const rising = ["the", "people", "lifeboat"].map(unusualness);
  expect(rising).toEqual(rising.toSorted((a, b) => a - b));
  expect(rising[0]).toBeLessThan(1);
  expect(unusualness("People")).toBe(unusualness("people"));
  expect(unusualness("nasa")).toBeGreaterThan(unusualness("NASA"));
});

test("the words of a script without spaces are pairs of its characters", () => {
  expect(lowerWords("Die Brücke 青石桥, 1902")).toEqual(["die", "brücke", "青石", "石桥", "1902"]);
});
