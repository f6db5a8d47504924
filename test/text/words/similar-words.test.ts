import { describe, expect, test } from "vitest";
import { maxSlips, nearStems, nearestStems, slipsBetween } from "../../../src/text/words/similar-words.js";
import { stem } from "../../../src/text/words/word-terms.js";

const letters = ["a", "b", "c"];
const longer = (words: readonly string[]) => words.flatMap((word) => letters.map((letter) => word + letter));
const shortWords = [[""], letters, longer(letters), longer(longer(letters)), longer(longer(longer(letters)))].flat();

/** All words that one slip makes of another, the obvious way. */
function oneSlipFrom(word: string): readonly string[] {
  return Array.from({ length: word.length + 1 }, (_, at) => {
    const [before, after] = [word.slice(0, at), word.slice(at)];
    const swapped = after.length > 1 ? [before + after[1]! + after[0]! + after.slice(2)] : [];
    const others = letters.flatMap((letter) => [before + letter + after, before + letter + after.slice(1)]);
    return [before + after.slice(1), ...swapped, ...others];
  }).flat();
}

describe("slips between words", () => {
  const pairs = shortWords.flatMap((one) => shortWords.map((other) => [one, other] as const));
  const near = new Map(shortWords.map((word) => [word, new Set(oneSlipFrom(word))]));

  test("are none between equal words, and one between a word and each that one slip makes of it", () => {
    const expected = (one: string, other: string) => (one === other ? 0 : near.get(one)!.has(other) ? 1 : undefined);
    expect(pairs.filter(([one, other]) => slipsBetween(one, other, 1) !== expected(one, other))).toEqual([]);
  });

  test("are at most as many as it takes by way of another word", () => {
    const two = new Map(shortWords.map((word) => [word, new Set(oneSlipFrom(word).flatMap(oneSlipFrom))]));
    const found = pairs.map(([one, other]) => [one, other, slipsBetween(one, other, 2)] as const);
    expect(found.filter(([one, other, slips]) => slips === 2 && !two.get(one)!.has(other))).toEqual([]);
    // Letters that were swapped are not touched again, so that "ab" to "bca" is three slips.
    const missed = found.filter(([one, other, slips]) => slips === undefined && two.get(one)!.has(other));
    expect(missed.filter(([one, other]) => slipsBetween(one, other, 3) !== 3)).toEqual([]);
  });

  test("swapped neighbours are one", () => {
    expect(slipsBetween("retentoin", "retention", 2)).toBe(1);
    expect(slipsBetween("autosclaing", "autoscaling", 2)).toBe(1);
    expect(slipsBetween("kuberntes", "kubernetes", 2)).toBe(1);
    expect(slipsBetween("conventons", "inventions", 2)).toBeUndefined();
  });
});

describe("the stem of a misspelt word", () => {
  test.each([
    ["propogators", "propagators", 1],
    ["conventons", "conventions", 1],
    ["semantc", "semantic", 1],
    ["obesrvability", "observability", 1],
    ["cardinallity", "cardinality", 1],
    ["declaritive", "declarative", 1],
    ["instrumentaion", "instrumentation", 1],
    ["comaptibility", "compatibility", 1],
    ["authentiction", "authentication", 1],
    ["colector", "collector", 1],
    ["smapling", "sampling", 1],
    ["ampling", "sampling", 1],
    ["dampling", "sampling", 1],
    ["asmpling", "sampling", 1],
    ["ssampling", "sampling", 1],
    ["confgurtion", "configuration", 2],
    ["schéam", "schéma", 1],
    ["конфигурцаия", "конфигурация", 1],
  ])("%s is near to that of %s", (typed, word, slips) => {
    const { slipsTo, beginnings, minLength, maxLength } = nearStems(typed, false);
    const meant = stem(word);
    expect(slipsTo(meant)).toBe(slips);
    expect(beginnings.some((beginning) => meant.startsWith(beginning))).toBe(true);
    expect(meant.length).toBeGreaterThanOrEqual(minLength);
    expect(meant.length).toBeLessThanOrEqual(maxLength);
  });

  test("a short word has no slip, a longer one has one, and a long one two", () => {
    expect(["trce", "trcae", "sampli", "samplin", "samplers"].map(maxSlips)).toEqual([0, 1, 1, 1, 2]);
    expect(nearStems("trce", false).beginnings).toEqual([]);
    expect(nearStems("trcae", false).slipsTo("trace")).toBe(1);
    expect(nearStems("trcea", false).slipsTo("track")).toBeUndefined();
  });

  test("the first letter of a short word is right", () => {
    expect(nearStems("wages", false).beginnings).toEqual(["w"]);
  });
});

describe("the stem of an unfinished word", () => {
  test.each([
    ["histogr", "histogram", true],
    ["recommendati", "recommendation", true],
    ["compatibili", "compatibility", true],
    ["deplo", "deployment", true],
    ["deplo", "deploy", true],
    ["his", "history", true],
    ["histogrx", "histogram", false],
    ["hi", "history", false],
    ["recommender", "recommendation", true],
  ])("%s may begin a word of the stem of %s: %s", (typed, word, isNear) => {
    const { slipsTo, beginnings } = nearStems(typed, true);
    const meant = stem(word);
    expect(slipsTo(meant) === 0 && beginnings.some((beginning) => meant.startsWith(beginning))).toBe(isNear);
  });
});

test("fewer slips come before more chunks, and stems that no chunk has any more are left out", () => {
  const found = [
    { stem: "gone", slips: 0, chunks: 0 },
    { stem: "rare", slips: 0, chunks: 1 },
    { stem: "far", slips: 2, chunks: 90 },
    { stem: "b", slips: 1, chunks: 5 },
    { stem: "a", slips: 1, chunks: 5 },
    { stem: "often", slips: 1, chunks: 9 },
  ];
  expect(nearestStems(found, 4)).toEqual(["rare", "often", "a", "b"]);
});
