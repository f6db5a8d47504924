import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Answer, Citation } from "../../src/core/types.js";
import { answerFlaws } from "../../src/evaluate/answer-flaws.js";
import { evaluatePassages, isRight, type PassageQuestion } from "../../src/evaluate/evaluate-passages.js";
import { citewell, citewellJson } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const page = "Keys expire after 90 days. Ask the [help desk](https://example.org) for a new one. Doors open at 8.";

function cited(quote: string, supported = true): Citation {
  const start = page.indexOf(quote);
  return {
    number: 1,
    uri: "page",
    start,
    end: start + quote.length,
    quote,
    supported,
    support: supported ? "exact" : "missing",
  } as Citation;
}

function answer(text: string, citations: readonly Citation[], answered = true): Answer {
  return { text, answered, citations } as Answer;
}

const place = (quote: string) => ({ uri: "page.md", quote });

describe("an answer is right", () => {
  const both = { passages: [[place("after 90 days"), place("three months")], [place("open at 8")]] };
  test.each<[string, Pick<PassageQuestion, "passages">, Answer, boolean]>([
    [
      "when every passage is cited, one place of each",
      both,
      answer("…", [cited("Keys expire after 90 days."), cited("Doors open at 8.")]),
      true,
    ],
    ["not with one of two passages", both, answer("…", [cited("Keys expire after 90 days.")]), false],
    [
      "not by a citation that is not supported",
      { passages: [[place("open at 8")]] },
      answer("…", [cited("Doors open at 8.", false)]),
      false,
    ],
    ["when it declines what no passage answers", { passages: [] }, answer("No.", [], false), true],
    [
      "not when it answers what no passage answers",
      { passages: [] },
      answer("At 8.", [cited("Doors open at 8.")]),
      false,
    ],
  ])("%s", (_, question, given, right) => {
    expect(isRight(question, given)).toBe(right);
  });
});

test("results come by kind of question, with the share that was declined", async () => {
  const question = (kind: string, text: string, quote?: string): PassageQuestion => {
    return { id: text, kind, text, passages: quote === undefined ? [] : [[place(quote)]] };
  };
  const kinds = await evaluatePassages(
    [question("direct", "expire", "90 days"), question("none", "moon"), question("direct", "doors", "at 8")],
    {
      ask: async (text) =>
        text === "expire" ? answer("90 days [1]", [cited("expire after 90 days")]) : answer("No.", [], false),
      textOf: async () => page,
    },
  );
  expect(kinds).toMatchObject([
    { kind: "direct", questions: 2, right: 0.5, declined: 0.5 },
    { kind: "none", questions: 1, right: 1, declined: 1 },
  ]);
});

test.each<[string, Answer, readonly string[]]>([
  ["a good answer", answer("Ask the `desk` [1]", [cited("Doors open at 8.")]), []],
  ["a raw marker", answer('After 90 days [1: "after 90 days"]', [cited("Doors open at 8.")]), ["rawMarker"]],
  ["an open code span", answer("Run `npm install [1]", [cited("Doors open at 8.")]), ["openCode"]],
  ["a quote that begins inside a link", answer("x", [cited("desk](https://example.org) for a new one.")]), ["cutLink"]],
  ["a whole link", answer("x", [cited("[help desk](https://example.org)")]), []],
  ["an answer without a citation", answer("x", []), ["uncited"]],
  ["declining without a citation", answer("No.", [], false), []],
])("flaws of %s", async (_, given, flaws) => {
  expect(await answerFlaws(given, async () => page)).toEqual(flaws);
});

describe("eval --answers about a folder of documents", () => {
  const line = (question: object) => `${JSON.stringify(question)}\n`;
  const keys = { _id: "1", kind: "direct", text: "When do keys expire?" };

  test("prints a table by kind, and writes each answer with --output", async () => {
    const cwd = await temporaryFolder({
      "docs/keys.md": "# Keys\n\nKeys expire after 90 days.\n",
      "questions.jsonl":
        line({ ...keys, passages: [[{ uri: "keys.md", quote: "after 90 days" }]] }) +
        line({ _id: "2", kind: "unanswerable", text: "Who painted the Mona Lisa?", passages: [] }),
    });
    const words = ["eval", "docs", "--answers", "--queries", "questions.jsonl"];
    const { stdout } = await citewell(words, { cwd });
    expect(stdout).toMatch(/^direct +1 +1\.000 \(1\.000-1\.000\) +0\.000$/m);
    expect(stdout).toMatch(/^unanswerable +1 +1\.000 \(1\.000-1\.000\) +1\.000$/m);
    expect(stdout).toContain("No passage was lost.");
    const result = await citewellJson([...words, "--output", join(cwd, "out.json")], { cwd });
    expect(result).toMatchObject({ questions: 2, flaws: { rawMarker: 0, openCode: 0, cutLink: 0, uncited: 0 } });
  });

  test("says where passages were lost, and a page has examples that open", async () => {
    const cwd = await temporaryFolder({
      "docs/keys.md": "# Keys\n\nKeys expire after 90 days.\n",
      "questions.jsonl": line({
        ...keys,
        text: "Who painted the Mona Lisa?",
        passages: [[{ uri: "keys.md", quote: "after 90 days" }]],
      }),
    });
    const words = ["eval", "docs", "--answers", "--queries", "questions.jsonl", "--report", "losses.html"];
    const { stdout } = await citewell(words, { cwd });
    expect(stdout).toMatch(/^in the prompt, and declined +1\n {2}such as 1: Who painted the Mona Lisa\?$/m);
    const html = await readFile(join(cwd, "losses.html"), "utf8");
    expect(html).toMatch(/<summary>1 example<\/summary>\s*<p>Who painted the Mona Lisa\?/);
    expect(html).toContain("expected: “after 90 days”, keys.md");
  });

  test("refuses questions whose passage the documents do not hold, before anything is indexed", async () => {
    const cwd = await temporaryFolder({
      "docs/keys.md": "Keys expire after 90 days.",
      "questions.jsonl": line({ ...keys, passages: [[{ uri: "keys.md", quote: "after 60 days" }]] }),
    });
    const { stderr, exitCode } = await citewell(["eval", "docs", "--answers", "--queries", "questions.jsonl"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Question 1 expects the words "after 60 days", which keys.md does not hold');
  });
});
