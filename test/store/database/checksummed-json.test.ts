import { expect, test } from "vitest";
import { readChecksummed, withChecksum } from "../../../src/store/database/checksummed-json.js";

const fields = { store: "a-b", count: 120, ratio: 0.25, position: { label: 17, removal: 0 }, name: "généré" };

/** Undefined if the text is refused. */
function read(text: string): object | undefined {
  try {
    return readChecksummed(text);
  } catch {
    return undefined;
  }
}

test("fields with a checksum are read back, and a changed bit or a cut anywhere is detected", () => {
  const bytes = Buffer.from(withChecksum(fields));
  expect(readChecksummed(bytes.toString())).toEqual(fields);
  for (let at = 0; at < bytes.length - 1; at++) {
    expect(read(bytes.subarray(0, at).toString())).toBeUndefined();
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << bit;
      expect(read(changed.toString())).toBeUndefined();
    }
  }
});

test("fields without a checksum, and JSON that is no object, are refused", () => {
  for (const text of [JSON.stringify(fields), "null", "7", "[]", ""]) expect(read(text)).toBeUndefined();
});
