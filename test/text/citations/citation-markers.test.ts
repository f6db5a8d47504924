import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CitationMarkerParser, type CitationMarker } from "../../../src/text/citations/citation-markers.js";

/** Visible text, and each marker with the number of visible characters before it. */
function read(deltas: readonly string[]) {
  const parser = new CitationMarkerParser();
  let visible = "";
  const markers: (CitationMarker & { readonly at: number })[] = [];
  for (const part of [...deltas.flatMap((delta) => parser.push(delta)), ...parser.end()]) {
    if (part.type === "text") visible += part.text;
    else markers.push({ ...part.marker, at: visible.length });
  }
  return { visible, markers };
}

describe("a marker", () => {
  test.each<[string, string, CitationMarker[]]>([
    ['Keys last [1: "90 days"].', "Keys last .", [{ number: 1, quote: "90 days" }]],
    ["Keys last [1].", "Keys last .", [{ number: 1 }]],
    ["Both [1, 2] and [3][4]", "Both  and ", [{ number: 1 }, { number: 2 }, { number: 3 }, { number: 4 }]],
    ["有效期【1：“九十天”】。", "有效期。", [{ number: 1, quote: "九十天" }]],
    ['a [2: "see [1] and "this""] b', "a  b", [{ number: 2, quote: 'see [1] and "this"' }]],
    ['link [1: "set [`LEVEL`](#level) to 1"].', "link .", [{ number: 1, quote: "set [`LEVEL`](#level) to 1" }]],
    [`mixed [1: "90 days'] on`, "mixed  on", [{ number: 1, quote: "90 days" }]],
    ['two [1: "over\na line"]', "two ", [{ number: 1, quote: "over\na line" }]],
    ["bare [1: 90 days] words", "bare  words", [{ number: 1, quote: "90 days" }]],
    ['open [1: "90 days] and on', "open  and on", [{ number: 1, quote: "90 days" }]],
    ['over a blank line [1: "90] days\n\nmore"]', 'over a blank line  days\n\nmore"]', [{ number: 1, quote: "90" }]],
    ["unquoted [1: 90] days\nmore]", "unquoted  days\nmore]", [{ number: 1, quote: "90" }]],
    ["ten [1,2,3,4,5,6,7,8,9,10]", "ten ", Array.from({ length: 10 }, (_, at) => ({ number: at + 1 }))],
    ["three digits [999]", "three digits ", [{ number: 999 }]],
    ["spaces [ 1,  2 ]", "spaces ", [{ number: 1 }, { number: 2 }]],
    ['spaces around a quote [1:  "90 days"  ]', "spaces around a quote ", [{ number: 1, quote: "90 days" }]],
    ["```\na[1]\n```\nthen [2]", "```\na[1]\n```\nthen ", [{ number: 2 }]],
    ["```\na[1]\n````\nthen [2]", "```\na[1]\n````\nthen ", [{ number: 2 }]],
    ['empty [1: ""]', "empty ", [{ number: 1 }]],
    ["`code` then [1]", "`code` then ", [{ number: 1 }]],
    ["a stray ` tick\nthen [1]", "a stray ` tick\nthen ", [{ number: 1 }]],
    ["a stray ` tick [1] and no other", "a stray ` tick  and no other", [{ number: 1 }]],
    ["two stray `` ticks [1], then one ` [2]", "two stray `` ticks , then one ` ", [{ number: 1 }, { number: 2 }]],
    ["code `a[1]`, then [2]", "code `a[1]`, then ", [{ number: 2 }]],
    ["code ``a[1] ` b``, then [2]", "code ``a[1] ` b``, then ", [{ number: 2 }]],
    ['a stray ` tick [1: "a ` b"], then [2]', "a stray ` tick , then ", [{ number: 1, quote: "a ` b" }, { number: 2 }]],
    ['code `a[1: "b ` c"] d`, then [2]', 'code `a[1: "b ` c"] d`, then ', [{ number: 2 }]],
    ["closed only by more: `a [1] ``` b", "closed only by more: `a  ``` b", [{ number: 1 }]],
  ])("%j", (text, visible, markers) => {
    const { visible: seen, markers: found } = read([text]);
    expect(seen).toBe(visible);
    expect(found.map(({ at: _at, ...marker }) => marker)).toEqual(markers);
  });
});

test.each([
  "a [link](https://example.org) and [1](https://example.org)",
  "[1]: https://example.org",
  "a footnote [^1] and [0] and [2024] and [a] and []",
  "inline `arr[1]` and ``a ` b[2]``",
  "```js\nconst x = arr[1];\n```\n",
  "```js\nconst x = `${arr[1]}`;\n``arr[2]\n```\n",
  "a stray ` tick\nthen `arr[1]`",
  "three spaces [1,   2]",
  "an end [1",
  'an end [1: "without',
  'a quote over [1: "a blank\n\nline"]',
  "words without quotation marks [1: over\na line]",
  "eleven [1,2,3,4,5,6,7,8,9,10,11]",
  "four digits [1000]",
  "an end [",
  `[1: "${"x".repeat(2000)}"]`,
  "注意【重要】",
])("%j has no marker and stays unchanged", (text) => {
  expect(read([text])).toEqual({ visible: text, markers: [] });
});

test("a marker may be cut at any place, also behind a space", () => {
  expect(read(["so [1 ", "]."])).toEqual({ visible: "so .", markers: [{ number: 1, at: 3 }] });
  expect(read(["so [1 "])).toEqual({ visible: "so [1 ", markers: [] });
});

test("a quote has at most 1,000 characters with its quotation marks", () => {
  const quoted = (length: number) => `"${"x".repeat(length - 2)}"`;
  expect(read([`[1: ${quoted(1000)}]`])).toMatchObject({ visible: "", markers: [{ quote: "x".repeat(998) }] });
  expect(read([`[1: ${quoted(1001)}]`])).toEqual({ visible: `[1: ${quoted(1001)}]`, markers: [] });
});

const piece = fc.oneof(
  fc.constantFrom("[", "]", "1", "12", ":", '"', "“", "”", ",", " ", "\n", "(", "`", "```", "【", "】", "x", "。"),
  fc.constantFrom('[1: "words of it"]', "[2]", "[1, 2]", "[a](b)", "`a[1]`", '[3: "open]', "[1](x)"),
);
const marked = fc.array(piece, { maxLength: 40 }).map((parts) => parts.join(""));

test("words and markers do not depend on how the text is cut into deltas", () => {
  fc.assert(
    fc.property(marked, fc.array(fc.nat(200), { maxLength: 30 }), (text, cuts) => {
      const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted((a, b) => a - b);
      const deltas = places.slice(1).map((end, index) => text.slice(places[index], end));
      expect(read(deltas)).toEqual(read([text]));
      expect(read(text.split(""))).toEqual(read([text]));
    }),
    { numRuns: 500 },
  );
});

test("text without digits in brackets passes unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      fc.pre(!/[[【] *\d/u.test(text));
      expect(read(text.split("")).visible).toBe(text);
    }),
  );
});

test("never more than about a thousand characters are held back", () => {
  const parser = new CitationMarkerParser();
  let given = 0;
  let seen = 0;
  for (let count = 0; count < 5000; count++) {
    const delta = count % 700 === 0 ? '[1: "' : "word ";
    given += delta.length;
    for (const part of parser.push(delta)) if (part.type === "text") seen += part.text.length;
    expect(given - seen).toBeLessThan(1100);
  }
});
