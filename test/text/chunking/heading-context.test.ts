import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { TokenCounter } from "../../../src/core/ports.js";
import { split } from "../../../src/text/chunking/split.js";

/** A token a word: whatever stands in these contexts fits a quarter of a chunk. */
const words: TokenCounter = { name: "words", count: (text) => text.match(/\S+/g)?.length ?? 0 };
const maxTokens = 64;

test("the context of any chunk is the title and the headings that are open where it starts, its own heading left out", () => {
  const section = fc.record({
    level: fc.integer({ min: 1, max: 6 }),
    lengths: fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(
      fc.array(section, { minLength: 1, maxLength: 10 }),
      fc.constantFrom(undefined, "Title"),
      fc.integer({ min: 0, max: 60 }),
      (sections, title, preamble) => {
        const headings: { readonly level: number; readonly name: string; readonly start: number }[] = [];
        let text = preamble === 0 ? "" : `${"before ".repeat(preamble)}\n\n`;
        for (const [index, { level, lengths }] of sections.entries()) {
          const name = `h${index}`;
          headings.push({ level, name, start: text.length });
          text += `${"#".repeat(level)} ${name}\n\n`;
          for (const length of lengths) text += `${"word ".repeat(length).trim()}\n\n`;
        }
        const document = { uri: "memo:1", mediaType: "text/markdown", text, ...(title !== undefined && { title }) };
        for (const { start, context } of split(document, {
          maxTokens,
          overlapTokens: 0,
          parentTokens: 0,
          tokens: words,
        })) {
          const open = headings.filter((heading) => {
            const closed = headings.some(
              (later) => later.start > heading.start && later.start <= start && later.level <= heading.level,
            );
            return heading.start < start && !closed;
          });
          expect(context).toBe([...(title === undefined ? [] : [title]), ...open.map(({ name }) => name)].join(" > "));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("without context lines no chunk has title or headings, and a table that is cut still repeats its header row", () => {
  const rows = Array.from({ length: 30 }, (_, index) => `| row ${index} | value ${index} |`).join("\n");
  const text = `# Heading\n\n${"word ".repeat(100)}\n\n## Table\n\n| Name | Value |\n| --- | --- |\n${rows}\n`;
  const document = { uri: "memo:1", mediaType: "text/markdown", title: "Title", text };
  const contexts = (contextLine: boolean) => [
    ...new Set(
      [...split(document, { maxTokens, overlapTokens: 0, tokens: words, contextLine })].map(({ context }) => context),
    ),
  ];
  expect(contexts(true).some((context) => context.startsWith("Title > Heading"))).toBe(true);
  expect(contexts(false).toSorted()).toEqual(["", expect.stringMatching(/^\| Name \| Value \|/)]);
});
