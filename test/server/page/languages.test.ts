import { expect, test } from "vitest";
import { chinese } from "../../../src/server/page/browser/words/chinese.js";
import { english } from "../../../src/server/page/browser/words/english.js";

/** The paths of all texts of a language, of lists the number of their entries. */
function pathsOf(words: object, above = ""): string[] {
  return Object.entries(words).flatMap(([name, value]: [string, unknown]) => {
    const path = `${above}${name}`;
    if (Array.isArray(value)) return [`${path} of ${value.length}`];
    return typeof value === "object" && value !== null ? pathsOf(value, `${path}.`) : [path];
  });
}

test("both languages of the page say the same things", () => {
  expect(pathsOf(chinese)).toEqual(pathsOf(english));
});

test("the Chinese page is Chinese, but for names of keys", () => {
  const texts = (words: object): string[] =>
    Object.values(words).flatMap((value: unknown) => {
      if (typeof value === "string") return [value];
      return typeof value === "object" && value !== null ? texts(value) : [];
    });
  const latin = texts(chinese).filter((text) => text !== "" && !/\p{Script=Han}/u.test(text));
  expect(latin.filter((text) => !/^(?:(?:Ctrl|Shift|Enter|Esc|[A-Z?])(?: |$))+$/.test(text))).toEqual([]);
});
