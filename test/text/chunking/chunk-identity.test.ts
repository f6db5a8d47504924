import fc from "fast-check";
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { chunkId, vectorKey } from "../../../src/text/chunking/chunk-identity.js";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: fc.constantFrom("\ud800", "\udc00", "\u0000", "\ufeff", "中", "é", "a"), maxLength: 60 }),
);

function digest(...parts: readonly string[]): string {
  const whole = parts.map((part) => `${part.length}:${part}`).join("");
  return createHash("sha256").update(whole, "utf8").digest("hex").slice(0, 32);
}

test("a chunk's id and its vector's key are SHA-256 of their content, at any length", () => {
  fc.assert(
    fc.property(text, text, fc.nat(2_000), (one, other, times) => {
      // Some longer than anything that is kept at hand to encode them in.
      const long = other.repeat(times);
      expect(vectorKey({ context: "", text: long })).toBe(digest(long));
      if (one !== "") expect(vectorKey({ context: one, text: long })).toBe(digest(`${one}\n\n${long}`));
      expect(chunkId(one, long, times)).toBe(digest(one, long, String(times)));
      // Nothing of a longer text is left in a shorter one's.
      expect(vectorKey({ context: "", text: one })).toBe(digest(one));
    }),
  );
});
