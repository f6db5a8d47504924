import { expect, test } from "vitest";
import { describeSources } from "../../src/cli/output/answer-sources.js";
import { renderInline, renderSettled } from "../../src/cli/output/inline-markdown.js";
import type { Answer, Citation } from "../../src/core/types.js";
import { quoteLocator } from "../../src/text/citations/locate-quote.js";
import { citationChecker } from "../../src/text/citations/check-citation.js";

const text = "Hello. The plan is free only for students [2]. Storage is ~~5 GB~~ 50 GB for everybody.";

function cited(quote: string): Citation {
  const chunk = { id: "c", documentId: "a.md", start: 0, end: text.length, text, context: "", tokens: 9 };
  const hits = [{ chunk, uri: "a.md", score: 1, placements: [] }];
  const passage = { number: 1, uri: "a.md", start: 0, end: text.length, text, tokens: 9, hits };
  return citationChecker([passage]).check({ number: 1, quote }, "")!;
}

const view = { link: (shown: string) => shown, remark: (shown: string) => shown, telling: (word: string) => word };

function listed(quote: string, question = "Which plan is free?", shown = view): string {
  const answer = { question, answered: true, citations: [cited(quote)], hits: [] as const } as unknown as Answer;
  return describeSources(answer, { directory: "/" }, shown);
}

test("labels and remarks are in the language of the question", () => {
  expect(listed("5 GB", "存储空间有多大？")).toMatch(/^来源\n.*\(在原文中已划掉/);
  const hits = [{ uri: "a.md", chunk: { text: "# 套餐\n\n免费\n套餐：\n- 学生\n- 老师" } }];
  const nearest = { hits, headings: ["套餐"] };
  const declined = { question: "有停车场吗？", answered: false, citations: [], nearest } as unknown as Answer;
  expect(describeSources(declined, { directory: "/" }, view)).toBe(
    "最相近的段落\n  a.md  免费套餐： 学生 老师\n可以问的主题\n  套餐\n",
  );
});

test("telling words are marked where they stand in any form, and no others", () => {
  const marking = { ...view, telling: (word: string) => `<${word}>` };
  expect(listed("The plan is free", "What are the plans of students?", marking)).toContain(
    "“The <plan> is free” only for <students>",
  );
});

test("a quotation that ends early stands in its whole sentence, whose own numbers are no citations", () => {
  expect(listed("The plan is free")).toBe("Sources\n[1] a.md  “The plan is free” only for students \\[2\\].\n");
});

test("a quotation that is near says one thing, beside the document's own words", () => {
  expect(listed("The plan is free just for students")).toBe(
    "Sources\n[1] a.md  “The plan is free just for students”  (slightly different words in the source: “The plan is free only for students \\[2\\].”)\n",
  );
});

test("sources are shown as plain words, without Markdown", () => {
  const markdown = "- **Plans**: see [the list](https://plans.test/all) of `plans`.\n\n```sh\nplans list\n```";
  const quote = {
    ...cited("The plan is free"),
    quote: markdown,
    sentence: undefined,
    supported: true,
  } as unknown as Citation;
  const answer = { question: "Plans?", answered: true, citations: [quote], hits: [] } as unknown as Answer;
  expect(describeSources(answer, { directory: "/" }, view)).toBe(
    "Sources\n[1] a.md  “Plans: see the list of plans. plans list”\n",
  );
});

test("struck-out words are said to be struck out", () => {
  expect(cited("5 GB")).toMatchObject({ supported: false, support: "near", struckOut: true });
  expect(listed("5 GB")).toContain("(struck out in the source: ");
  expect(quoteLocator(text)("Storage is 50 GB")?.support).toBe("normalised");
});

test.each(["See \\[1\\] here.", "See [1\\] here.", "See \\[12\\]"])(
  "the escaped brackets of %s keep their backslashes",
  (line) => {
    expect(renderInline(line)).toBe(line);
    for (let end = 1; end <= line.length; end++)
      expect(line.startsWith(renderSettled(line.slice(0, end)).shown)).toBe(true);
  },
);

test("other escaped brackets lose them", () => {
  expect(renderInline("a \\[note\\] of it")).toBe("a [note] of it");
});
