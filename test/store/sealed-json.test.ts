import { expect, test } from "vitest";
import { sealed, unsealed } from "../../src/store/sealed-json.js";

const fields = { store: "a-b", count: 120, ratio: 0.25, position: { label: 17, removal: 0 }, name: "généré" };

/** Undefined for what is refused. */
function read(text: string): object | undefined {
  try {
    return unsealed(text);
  } catch {
    return undefined;
  }
}

test("what was sealed comes back, and a single changed bit or a cut anywhere is seen", () => {
  const bytes = Buffer.from(sealed(fields));
  expect(unsealed(bytes.toString())).toEqual(fields);
  for (let at = 0; at < bytes.length - 1; at++) {
    expect(read(bytes.subarray(0, at).toString())).toBeUndefined();
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << bit;
      expect(read(changed.toString())).toBeUndefined();
    }
  }
});

test("fields without a checksum, and what holds no fields, were never sealed", () => {
  for (const text of [JSON.stringify(fields), "null", "7", "[]", ""]) expect(read(text)).toBeUndefined();
});
