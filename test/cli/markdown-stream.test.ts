import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MarkdownStream } from "../../src/cli/output/markdown-stream.js";

/** The screen's text, with the names of styles in place of their codes. */
function shown(pieces: readonly string[], columns = 80): string {
  return raw(pieces, columns)
    .replaceAll("\u001B", "␛")
    .replace(/␛\[(\d+)m/g, (_, code: string) => `‹${names[code] ?? code}›`);
}

function raw(pieces: readonly string[], columns = 80): string {
  let screen = "";
  const stream = new MarkdownStream({ write: (text) => (screen += text), columns });
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return screen;
}

const names: Record<string, string> = {
  1: "bold",
  22: "/bold",
  3: "italic",
  23: "/italic",
  36: "code",
  39: "/code",
  2: "dim",
  4: "line",
  24: "/line",
  9: "struck",
  29: "/struck",
};

test.each([
  ["**bold** and *italic*, ~~not~~", "‹bold›bold‹/bold› and ‹italic›italic‹/italic›, ‹struck›not‹/struck›"],
  ["run `npm ci **x**` now", "run ‹code›npm ci **x**‹/code› now"],
  ["## A *fine* day", "‹bold›A ‹italic›fine‹/italic› day‹/bold›"],
  ["## A **fine** day", "‹bold›A ‹bold›fine‹/bold›‹bold› day‹/bold›"],
  ["- one\n  * two\n3. three", "• one\n  • two\n3. three"],
  ["> - said", "‹dim›│‹/bold› • said"],
  ["a\n\n---\nb", `a\n\n‹dim›${"─".repeat(40)}‹/bold›\nb`],
  ["[the guide](https://example.com/a) says", "the guide (‹line›https://example.com/a‹/line›) says"],
  ["![a cat](cat.png)", "a cat (‹line›cat.png‹/line›)"],
  ["Keys expire. [1] Locks rust [2][3].", "Keys expire. [1] Locks rust [2][3]."],
  ["2 * 3 * 4 and snake_case_name and a_b", "2 * 3 * 4 and snake_case_name and a_b"],
  ["**not closed", "**not closed"],
  ["\\*plain\\*", "*plain*"],
  ["<b>tag</b> https://example.com/a_b_c", "<b>tag</b> https://example.com/a_b_c"],
  ["```js\nconst **a** = 1;\n\n```\nend", "‹code›const **a** = 1;‹/code›\n\nend"],
])("%j is shown as %j", (markdown, expected) => {
  expect(shown([markdown])).toBe(expected);
});

test("columns of a table stand under each other, also with Chinese; in a narrow terminal each row is a list", () => {
  const table = "| 名称 | n |\n| --- | --: |\n| 钥匙 | **5** |\n| lock | 12 |\n\nend";
  expect(shown([table])).toBe(
    "‹bold›名称‹/bold› │  ‹bold›n‹/bold›\n‹dim›─────┼───‹/bold›\n钥匙 │  ‹bold›5‹/bold›\nlock │ 12\n\nend",
  );
  expect(shown([table], 6)).toBe(
    "‹bold›名称‹/bold›: 钥匙\n‹bold›n‹/bold›: ‹bold›5‹/bold›\n\n‹bold›名称‹/bold›: lock\n‹bold›n‹/bold›: 12\n\nend",
  );
  expect(shown(["| no table\n| at all"])).toBe("| no table\n| at all");
});

test("text appears as it comes, and a mark when it is closed", () => {
  const screen: string[] = [];
  const stream = new MarkdownStream({ write: (text) => screen.push(text) });
  const after = (piece: string) => {
    stream.write(piece);
    return screen.splice(0).join("");
  };
  expect(after("Keys ")).toBe("Keys ");
  expect(after("expire **af")).toBe("expire ");
  expect(after("ter 90** days [1")).toBe("\u001B[1mafter 90\u001B[22m days ");
  expect(after("] and")).toBe("[1] and");
  expect(after(" 2 * 3")).toBe(" 2 * 3");
});

// Signs that mean something, often enough in a row to make nested, crossed and open marks.
const signs = "a,b , ,*,**,`,~~,~~~,[1],[,](u),!,\\,# ,- ,1. ,> ,|,| - |,\n,\n\n,```\n,。,📕".split(",");

describe("however a text is cut into pieces", () => {
  const markdown = fc.array(fc.constantFrom(...signs), { maxLength: 25 }).map((parts) => parts.join(""));

  const inline = fc
    .array(fc.constantFrom("a", "b ", "*", "**", "`", "[", "](u)", "!", "\\"), { maxLength: 16 })
    .map((parts) => `x${parts.join("")}`);

  test("the same is shown", () => {
    fc.assert(
      fc.property(fc.oneof(markdown, inline), (text) => {
        expect(shown(text.split(""))).toBe(shown([text]));
      }),
      { numRuns: 3000 },
    );
    expect(shown("~~~~ js\ncode".split(""))).toBe("‹code›code‹/code›");
  });

  test("no word is lost or shown twice, however marks are paired", () => {
    const words = (pieces: readonly string[]) => shown(pieces).replace(/‹[^›]*›|[^a-z.]/g, "");
    const nasty = fc
      .array(fc.constantFrom("_", ".", "word", ...signs), { maxLength: 20 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(nasty, (text) => {
        expect(words(text.split(""))).toBe(words([text]));
      }),
      { numRuns: 3000 },
    );
    expect(words("a_**.。** b*c_ *d*".split(""))).toBe("a.bcd");
  });

  test("no escape sequence of a text gets through, and none of ours is left open", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...signs, "\u001B", "\u001B[2J", "\u009B", "\u0007", "\u001B]8;;"), { maxLength: 25 }),
        (pieces) => {
          const screen = raw(pieces).replaceAll("\u001B", "␛");
          const codes = [...screen.matchAll(/␛\[(\d+)m/g)].map(([, code]) => Number(code));
          expect(screen.replace(/␛\[(?:1|2|3|4|9|22|23|24|29|36|39)m/g, "")).not.toMatch(/␛|(?![\n\t])\p{Cc}/u);
          for (const [on, off] of [
            [3, 23],
            [4, 24],
            [9, 29],
            [36, 39],
          ]) {
            expect(codes.lastIndexOf(on!)).toBeLessThanOrEqual(codes.lastIndexOf(off!));
          }
        },
      ),
    );
  });
});

test("a line without end is shown as it comes and parsed in pieces", () => {
  let length = 0;
  const stream = new MarkdownStream({ write: (text) => (length += text.length) });
  for (let word = 0; word < 3000; word++) stream.write("words ");
  expect(length).toBe(18_000);
  stream.write(`*${"x".repeat(100_000)}`);
  stream.end();
  expect(length).toBe(118_001);
});
