import { expect, test } from "vitest";
import { placeInRendering } from "../../../src/server/page/browser/text/place-in-rendering.js";

/** The words of the rendering at the place of words of the source. */
function found(source: string, rendered: string, words: string): string | undefined {
  const start = source.indexOf(words);
  const place = placeInRendering(source, rendered, { start, end: start + words.length });
  return place && rendered.slice(place.start, place.end);
}

test.each([
  [
    "API keys **expire** after `90 days`.",
    "API keys expire after 90 days.",
    "keys **expire** after `90",
    "keys expire after 90",
  ],
  ["See [the policy](https://example.com/the/policy) now. End.", "See the policy now. End.", "now.", "now."],
  ["See [the policy](https://example.com/the/policy) now.", "See the policy now.", "the policy](https", "the policy"],
  ["1. First, knock.\n2. Then wait.\n", "First, knock.\nThen wait.", "2. Then wait.", "Then wait."],
  ["```ts\nthe keys\n```", "the keys", "the keys", "the keys"],
  ["| a | b |\n| - | - |\n| North | 6:00 |\n", "\na\nb\nNorth\n6:00\n", "North | 6:00", "North\n6:00"],
  ["un**believ**able &amp; &copy; true", "unbelievable & © true", "true", "true"],
  ["<b>Bold</b> and <i title='and'>odd</i> words", "Bold and odd words", "odd", "odd"],
  ["钥匙在**九十天**之后过期。北门", "钥匙在九十天之后过期。北门", "在**九十天**之后过期。", "在九十天之后过期。"],
  ["The *keeper*. Then", "The keeper. Then", "The *keeper*.", "The keeper."],
  ["Keys \u{1d4d0} last", "Keys \u{1d4d0} last", "\u{1d4d0} last", "\u{1d4d0} last"],
])("the place of cited words in %j is found in its rendering", (source, rendered, words, shown) => {
  expect(found(source, rendered, words)).toBe(shown);
});

test("words that the rendering leaves out or has otherwise have no place in it", () => {
  expect(found("Shown <!-- and hidden words --> here", "Shown  here", "and hidden words")).toBeUndefined();
  expect(found("Altogether other words", "Nothing of the kind", "other words")).toBeUndefined();
});
