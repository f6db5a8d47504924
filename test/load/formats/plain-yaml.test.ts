import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { parsePlainYaml } from "../../../src/load/formats/plain-yaml.js";
import { seededRandom } from "../../support/seeded-random.js";

/** What the package makes of a text, as JSON with the order of its keys; `undefined` where it finds an error. */
function byPackage(content: string): string | undefined {
  const parsed = parseDocument(content, { prettyErrors: false, uniqueKeys: false });
  return parsed.errors.length > 0 ? undefined : JSON.stringify(parsed.toJS({ maxAliasCount: 100 }));
}

const asJson = (content: string) => {
  const read = parsePlainYaml(content);
  return read === undefined ? undefined : JSON.stringify(read);
};

describe("parsePlainYaml", () => {
  test.each([
    "title: Setup",
    "title: Nuts 'n' bolts (1)\nweight: -12\ndraft: false\nnone:\nlast: ~",
    "cSpell:ignore: otel # words\n# a comment\n\ndate: 2024-05-01",
    "title: 'It''s: quoted' # here\nlink: \"https://a.b/#c\"",
    "aliases: [/a/*, b c, 1]\nempty: []\nmenu: { main: { weight: 50 } }\nparams: { a: b, c: 2 }",
    "title: >-\n  Two lines\n  of a title\nbody: >\n  kept\nlast: 1",
    "title: one\n  goes on\n  below\nother:\n  begins\n  below\nquoted:\n  'one\n  text'",
    "tags:\n  - a b\n  # comment\n  - 'c: d'\n\nmore:\n- 1\n- true\nmap:\n    deep:\n      x: y\n    wide: 0",
    "title: 什么是？ ½ \u{1f600}",
    "a: 1\na: 2",
  ])("%j is read as the package reads it", (content) => {
    const read = asJson(content);
    expect(read).toBeDefined();
    expect(read).toBe(byPackage(content));
  });

  test.each([
    ["nothing", ""],
    ["a comment alone", "# only"],
    ["an error", "title: Nuts: a guide"],
    ["a key of another script", "标题: x"],
    ["a tab", "title:\tx"],
    ["a line end of Windows", "title: a\r\nb: c"],
    ["an anchor", "a: &x 1\nb: *x"],
    ["a tag", "a: !!str 1"],
    ["a number that JSON has not", "a: .inf"],
    ["a number that is not exact", "a: 9007199254740993"],
    ["an escape", 'a: "\\u0041"'],
    ["a key that is no text", "null: a"],
    ["a key of an object's own", "__proto__: a"],
    ["a list without a key", "- a"],
    ["a text that keeps its lines", "a: |\n  b\n  c"],
    ["a text behind a comment that is indented less", "a:\n# x\n  b"],
    ["a list of mappings", "a:\n  - b: c"],
  ])("%s is left to the package", (_, content) => {
    expect(parsePlainYaml(content)).toBeUndefined();
  });

  test("nesting beyond a few levels is left to the package, which refuses much of it", () => {
    const nested = (depth: number) =>
      Array.from({ length: depth }, (_, level) => `${" ".repeat(level)}a:`).join("\n") + " b";
    expect(asJson(nested(5))).toBe(byPackage(nested(5)));
    expect(parsePlainYaml(nested(40))).toBeUndefined();
    expect(parsePlainYaml(`a: ${"{ a: ".repeat(40)}b${" }".repeat(40)}`)).toBeUndefined();
  });

  test("time grows with the text, whatever it holds", () => {
    const long = 100_000;
    const texts = [
      `a: x${" ".repeat(long)}y`,
      `a: '${"''".repeat(long / 2)}`,
      `a: ${"{".repeat(long)}`,
      "a: b\n\n".repeat(long / 6),
      `a: b${"\n".repeat(long)}c`,
      `a:\n${"  'x\n".repeat(long / 5)}`,
      `a: [${",".repeat(long)}]`,
      `${"a:".repeat(long / 2)} x`,
    ];
    const { user } = process.cpuUsage();
    for (const text of texts) parsePlainYaml(text);
    // Some 50 ms; the square of the length takes ten seconds and more.
    expect((process.cpuUsage().user - user) / 1e6).toBeLessThan(3);
  });

  test("what it reads of made texts, right and wrong ones, is what the package reads", () => {
    const random = seededRandom(2);
    const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const words =
      "a|b c|1|-1|0|01|1.5|1e3|0x1f|0o7|true|True|no|null|~|-|--|- x|: x|x:|x: y|x:y|#|# x|x # y|x#y|'q'|'q''r'|'q|'q' r|\"d\"|\"d|\"\\n\"|[a, b]|[a,]|[]|[ ]|[a b,c]|[a: b]|[[a]]|{ a: b }|{a: 1, b: c}|{ a: { b: c } }|{}|{a}|{a:b}|>|>-|>+|>2|\||\|-|&x|*x|!t|%|@|`|?|? x|,|.inf|-.5|+1|2024-05-01|é|？|x  y|x | x|<<|.|...|---|=|(x)|/a/*|$|^x|x'y|x\"y|x, y|x]|x}";
    const indents = ["", "", "", "", "  ", "  ", "    ", " "];
    const keys = ["a:", "b:", "c:d:", "a_b:", "true:", "null:", "k :", "'k':", "1:", "a:b:", "<<:", "_x:"];
    const lines = [
      () => `${oneOf(indents)}${oneOf(keys)} ${oneOf(words.split("|"))}`,
      () => `${oneOf(keys)} ${oneOf(words.split("|"))}`,
      () => `${oneOf(indents)}${oneOf(keys)}`,
      () => `${oneOf(indents)}- ${oneOf(words.split("|"))}`,
      () => `${oneOf(indents)}${oneOf(words.split("|"))}`,
      () => oneOf(["", "", "  ", "# x", "  # x"]),
    ];
    let read = 0;
    for (let count = 0; count < 60_000; count++) {
      const content = Array.from({ length: 1 + Math.floor(random() * 5) }, () => oneOf(lines)()).join("\n");
      const plain = asJson(content);
      if (plain === undefined) continue;
      read++;
      expect([content, plain]).toEqual([content, byPackage(content)]);
    }
    expect(read).toBeGreaterThan(2000);
  });
});
