import { expect, test } from "vitest";
import { kindsOfUnits, surrogateRuns } from "../../../src/text/tokens/pre-tokens.js";

const kinds = () =>
  kindsOfUnits(() => [
    [1, /\p{L}+/gu],
    [2, /(?:[\p{N}\p{M}]|\u00ad)+/gu],
    [3, /\s+/gu],
    [4, /[\n\r]/g],
    [5, surrogateRuns],
  ]);
const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));

test("every unit is of the same kind in the table of a short text as in the one of all", () => {
  const all = kinds()("a".repeat(2000));
  for (let first = 0; first < units.length; first += 500) {
    const short = kinds()(units.slice(first, first + 500).join(""));
    expect(short.slice(first, first + 500)).toEqual(all.slice(first, first + 500));
  }
});

test("short texts with many different units come to the whole table, and lose no kinds on the way", () => {
  const all = kinds()("a".repeat(2000));
  const of = kinds();
  for (let first = 0; first < 4096; first += 64) {
    const text = units.slice(first, first + 64).join("");
    expect(of(text).slice(0, first + 64)).toEqual(all.slice(0, first + 64));
  }
});
