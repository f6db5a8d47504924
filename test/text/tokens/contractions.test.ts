import { expect, test } from "vitest";
import { TextUnits } from "../../../src/text/tables/text-units.js";
import { PreTokens } from "../../../src/text/tokens/pre-tokens.js";

/** The vocabulary's own expression: https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py */
const expression =
  /'(?:[sdmtSDMT]|ll|LL|lL|Ll|ve|VE|vE|Ve|re|RE|rE|Re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s/gu;

function pieces(text: string): string[] {
  const tokens = new PreTokens(new TextUnits().read(text));
  const found: string[] = [];
  for (let at = 0; at < text.length; at = tokens.endOf(at)) found.push(text.slice(at, tokens.endOf(at)));
  return found;
}

test.each([
  "s",
  "d",
  "m",
  "t",
  "ll",
  "ve",
  "re",
  "S",
  "LL",
  "Ve",
  "rE",
  "a",
  "l",
  "v",
  "r",
  "lv",
  "rl",
  "vl",
  "e",
  "u",
  "$",
  "3",
])(
  "letters behind '%s that go on are a piece of their own exactly where the vocabulary's expression parts them",
  (suffix) => {
    for (const rest of ["", "ound", " and", "é", "'s"]) {
      const text = `it'${suffix}${rest}`;
      expect(pieces(text)).toEqual(text.match(expression));
    }
  },
);
