import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { conditionCheck, requiredTerms, wordLine } from "../../../src/text/words/phrase-match.js";
import { terms } from "../../../src/text/words/terms.js";

const refuses = (text: string, conditions: Parameters<typeof conditionCheck>[0], context = "") =>
  conditionCheck(conditions)?.({ text, context });

describe("conditionCheck", () => {
  test.each([
    ["Running shoes are sold", "running shoes"],
    ["the RUNNING\nshoes", "Running Shoes"],
    ["**Running** shoes", "running, shoes"],
    ["To be, or not to be", "not to be"],
    ["the user’s guide", "user's guide"],
    ["the user's guide", "user"],
    ["café au lait", "café au"],
    ["用Python写的检索增强生成", "检索增强"],
    ["用 Python 写的", "python 写的"],
    ["一个检字", "检"],
    ["re\u00adtry the call", "retry the"],
  ])("%j holds the phrase %j", (text, phrase) => {
    expect(refuses(text, { phrases: [phrase] })).toBeUndefined();
    expect(refuses("elsewhere", { phrases: [phrase] }, text)).toBeUndefined();
    const not = refuses(text, { not: [`${phrase} `] });
    if (phrase.includes(" ")) expect(not).toBe(`holds "${phrase} ", which the query excludes`);
  });

  test.each([
    ["running shoe", "running shoes"],
    ["shoes running", "running shoes"],
    ["rerunning shoes", "running shoes"],
    ["running fast shoes", "running shoes"],
    ["检索，增强", "检索增强"],
    ["增强检索", "检索增强"],
    ["they don't", "don"],
  ])("%j does not hold the phrase %j", (text, phrase) => {
    expect(refuses(text, { phrases: [phrase] })).toBe(`does not hold the phrase "${phrase}"`);
  });

  test("a phrase does not match across headings and text", () => {
    expect(refuses("shoes", { phrases: ["running shoes"] }, "running")).toBeDefined();
  });

  test("a single excluded word excludes every form it finds; several words, or Chinese, only together", () => {
    expect(refuses("the logs of it", { not: ["log"] })).toBe('holds "log", which the query excludes');
    expect(refuses("catalogue", { not: ["log"] })).toBeUndefined();
    expect(refuses("see listenPort", { not: ["port"] })).toBeDefined();
    expect(refuses("one two", { not: ["two one"] })).toBeUndefined();
    expect(refuses("检索增强", { not: ["索增"] })).toBeDefined();
    expect(refuses("检增索", { not: ["索增"] })).toBeUndefined();
    expect(refuses("x", { not: ["log"] }, "Logs")).toBeDefined();
  });

  test("a query without words has no conditions", () => {
    expect(conditionCheck({})).toBeUndefined();
    expect(conditionCheck({ phrases: ["…"], not: ["!", "the"] })).toBeUndefined();
  });
});

describe("requiredTerms", () => {
  const piece = fc.constantFrom(
    ..."don 't we 're user 's Node .js list listenPort _ 1,0 v1.2 检 索 索引 增 カ ー ， 。 . the shoes Running U.S. \n C++ café ’ 한국 - é".split(
      " ",
    ),
    " ",
    " ",
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

  test("every text with the phrase has all required terms, whatever surrounds it", () => {
    let held = 0;
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 3 }), (phrase, around) => {
        const whole = around.join(phrase);
        if (wordLine(phrase).trim() === "" || !wordLine(whole).includes(wordLine(phrase))) return;
        held++;
        expect(terms(whole)).toEqual(expect.arrayContaining([...requiredTerms([phrase])]));
      }),
      { numRuns: 5000 },
    );
    expect(held).toBeGreaterThan(1000);
  });

  test("plain words and pairs of Chinese characters are required", () => {
    expect(requiredTerms(["running the shoes", "检索增强"])).toEqual(["run", "shoe", "检索", "索增", "增强"]);
  });
});
