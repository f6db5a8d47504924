import { expect, test } from "vitest";
import { TransportError } from "../../../src/core/errors.js";
import { RefusalIsolator } from "../../../src/stages/indexing/batches/refusal-isolator.js";

/** Sends `count` items, one call of the maximum size after another; returns the sizes of the calls. */
async function sizesOf(count: number, maxTaken: (call: number) => number, options: { readonly maxItems: number }) {
  const sizes: number[] = [];
  const send = async (items: readonly number[]) => {
    sizes.push(items.length);
    if (items.length > maxTaken(sizes.length)) throw new TransportError("too-large", "fewer, please");
  };
  const isolator = new RefusalIsolator<number>(send, options);
  const { refused } = await isolator.send(Array.from({ length: count }, (_, at) => at));
  expect(refused).toEqual([]);
  return sizes;
}

/** `[8, 3]` for 8, 8, 8. */
function runLengths(sizes: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const size of sizes) {
    const last = runs.at(-1);
    if (last?.[0] === size) last[1]++;
    else runs.push([size, 1]);
  }
  return runs;
}

test("after 16 full calls in a row the size grows by a quarter, rounded up, to no more than the limit", async () => {
  // Only the first call is too large.
  const sizes = await sizesOf(16 + 16 * 8 + 16 * 10 + 16 * 13 + 3 * 16, (call) => (call === 1 ? 8 : Infinity), {
    maxItems: 16,
  });
  expect(runLengths(sizes)).toEqual([
    [16, 1],
    // Two halves of the refused call.
    [8, 2 + 16],
    [10, 16],
    [13, 16],
    [16, 3],
  ]);
});

test("a size that was refused again after it had grown is tried only after four times as many calls", async () => {
  const sizes = await sizesOf(3000, () => 8, { maxItems: 16 });
  expect(runLengths(sizes).slice(0, 6)).toEqual([
    [16, 1],
    [8, 2 + 16],
    [10, 1],
    [5, 2],
    [8, 64],
    [10, 1],
  ]);
});
