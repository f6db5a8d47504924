import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BytePairs, readTiktokenFile, Vocabulary } from "../../../src/text/tokens/byte-pairs.js";

const word = (characters: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from(characters)), minLength: 1, maxLength });

function tiktokenFile(tokens: readonly string[], lastBreak = true): Buffer {
  const lines = tokens.map((token, rank) => `${Buffer.from(token).toString("base64")} ${rank}`);
  return Buffer.from(lines.join("\n") + (lastBreak ? "\n" : ""));
}

/** Joins the two neighbours whose token comes first, again and again, as strings of one character a byte. */
function slowCount(tokens: readonly string[], piece: string): number {
  const known = tokens.map((token) => Buffer.from(token).toString("latin1"));
  const rank = (token: string) => (known.includes(token) ? known.indexOf(token) : Infinity);
  let parts = Array.from(Buffer.from(piece).toString("latin1"));
  if (known.includes(parts.join(""))) return 1;
  for (;;) {
    const joined = parts.slice(1).map((part, at) => rank(parts[at]! + part));
    const best = Math.min(...joined);
    if (best === Infinity) return parts.length;
    const at = joined.indexOf(best);
    parts = [...parts.slice(0, at), parts[at]! + parts[at + 1]!, ...parts.slice(at + 2)];
  }
}

test("counts as merging byte pairs one by one does, for any vocabulary and piece, before and after it makes a table", () => {
  const tokens = fc.uniqueArray(word("abé啊", 4), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(
      tokens,
      fc.array(word("abcé啊😀", 20)),
      fc.boolean(),
      fc.nat(200),
      (vocabulary, pieces, lastBreak, searches) => {
        const pairs = new BytePairs(new Vocabulary(tiktokenFile(vocabulary, lastBreak), searches));
        for (const piece of pieces) expect(pairs.count(piece)).toBe(slowCount(vocabulary, piece));
      },
    ),
  );
});

test("reads tokens of any bytes", () => {
  const tokens = [Buffer.of(0), Buffer.of(0xff, 0xfe), Buffer.from("IQ== 0"), Buffer.alloc(200, 0x80)];
  const file = Buffer.from(tokens.map((token, rank) => `${token.toString("base64")} ${rank}\n`).join(""));
  const { bytes, ends } = readTiktokenFile(file);
  expect(Array.from(ends)).toEqual([1, 3, 9, 209]);
  expect(Buffer.from(bytes)).toEqual(Buffer.concat(tokens));
});
