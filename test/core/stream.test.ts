import { expect, test } from "vitest";
import { collect } from "../../src/stream.js";

test("collect returns all items in order", async () => {
  expect(await collect([1, 2, 3])).toEqual([1, 2, 3]);
});
