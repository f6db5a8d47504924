import fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { batch, collect, groupRuns, mapConcurrent } from "../../src/core/stream.js";

const tick = (turns: number) =>
  new Promise<void>((resolve) => {
    const again = (left: number) => (left <= 0 ? resolve() : setImmediate(() => again(left - 1)));
    again(turns);
  });

async function* failingAfter<T>(items: readonly T[], reason: unknown): AsyncGenerator<T> {
  yield* items;
  throw reason;
}

describe("mapConcurrent", () => {
  test("returns what a plain loop returns, in the order of the source, however long calls take", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(5)),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(3),
        async (delays, concurrency, readAhead) => {
          const double = async (turns: number, index: number) => {
            await tick(turns);
            return [index, turns * 2];
          };
          expect(await collect(mapConcurrent(delays, double, { concurrency, readAhead }))).toEqual(
            delays.map((turns, index) => [index, turns * 2]),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  test("never has more calls in flight than the cap, and reaches it", async () => {
    let inFlight = 0;
    let peak = 0;
    const call = async (turns: number) => {
      peak = Math.max(peak, ++inFlight);
      await tick(turns);
      inFlight--;
    };
    await collect(mapConcurrent([3, 1, 4, 1, 5, 2, 6, 5, 3, 5], call, { concurrency: 3 }));
    expect(peak).toBe(3);
  });

  test("refills a slot when its own call ends, not when the slowest of a wave does", async () => {
    const ended: number[] = [];
    const call = async (turns: number, index: number) => {
      await tick(turns);
      ended.push(index);
    };
    // One slow call and many quick ones: with two slots, the quick ones overtake the slow one.
    await collect(mapConcurrent([40, 1, 1, 1], call, { concurrency: 2 }));
    expect(ended).toEqual([1, 2, 3, 0]);
  });

  test("reads ahead up to its limit, and starts the next call as soon as one ends", async () => {
    let read = 0;
    function* items() {
      while (true) yield read++;
    }
    const waiting: (() => void)[] = [];
    const started: number[] = [];
    const call = (item: number) =>
      new Promise<void>((resolve) => {
        started.push(item);
        waiting.push(resolve);
      });
    const reading = mapConcurrent(items(), call, { concurrency: 2, readAhead: 1 });
    const first = reading.next();
    await tick(3);
    expect([read, started]).toEqual([3, [0, 1]]);
    waiting[0]!();
    await first;
    await Promise.resolve();
    expect(started).toEqual([0, 1, 2]);
    await tick(3);
    expect(read).toBe(4);
    for (const end of waiting) end();
    await reading.return(undefined);
  });

  test("items read ahead are not started after an abort, which is thrown even if the source has ended", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const started: number[] = [];
    const call = async (item: number) => {
      started.push(item);
      await tick(5);
      controller.abort(reason);
    };
    const { signal } = controller;
    const reading = collect(mapConcurrent([1, 2], call, { concurrency: 1, readAhead: 3, signal }));
    await expect(reading).rejects.toBe(reason);
    expect(started).toEqual([1]);
  });

  test("yields the results before the first failure, then throws it unchanged", async () => {
    const reason = { not: "an Error" };
    const call = (item: number) => (item === 3 ? Promise.reject(reason) : Promise.resolve(item));
    const seen: number[] = [];
    const reading = (async () => {
      for await (const item of mapConcurrent([1, 2, 3, 4], call, { concurrency: 2 })) seen.push(item);
    })();
    await expect(reading).rejects.toBe(reason);
    expect(seen).toEqual([1, 2]);
  });

  test("throws the source's own failure after the results before it", async () => {
    const reason = new Error("source broke");
    const seen: number[] = [];
    const reading = (async () => {
      for await (const item of mapConcurrent(failingAfter([1, 2], reason), async (n) => n, { concurrency: 4 })) {
        seen.push(item);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(seen).toEqual([1, 2]);
  });

  test("closes the source when the reader leaves", async () => {
    let closed = false;
    async function* endless() {
      try {
        for (let n = 0; ; n++) yield n;
      } finally {
        closed = true;
      }
    }
    for await (const item of mapConcurrent(endless(), async (n) => n, { concurrency: 2 })) if (item === 5) break;
    expect(closed).toBe(true);
  });

  test("stops taking items once the signal is aborted and throws the caller's reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    let started = 0;
    const reading = collect(
      mapConcurrent(
        Array.from({ length: 100 }, (_, n) => n),
        async (n) => {
          started++;
          if (n === 4) controller.abort(reason);
          await tick(1);
        },
        { concurrency: 2, signal: controller.signal },
      ),
    );
    await expect(reading).rejects.toBe(reason);
    expect(started).toBeLessThan(10);
  });
});

describe("batch", () => {
  test("loses nothing, keeps order and stays within count and weight", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20 })),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 30 }),
        async (items, count, weight) => {
          const groups = await collect(batch(items, { count, weight, weigh: (item) => item }));
          expect(groups.flat()).toEqual(items);
          for (const group of groups) {
            expect(group.length).toBeGreaterThan(0);
            expect(group.length).toBeLessThanOrEqual(count);
            if (group.length > 1) expect(group.reduce((sum, item) => sum + item, 0)).toBeLessThanOrEqual(weight);
          }
        },
      ),
    );
  });

  test("with waitMs 0, items that arrive together leave together, and none waits for later ones", async () => {
    async function* bursts() {
      yield* [1, 2, 3];
      await tick(20);
      yield* [4, 5];
    }
    expect(await collect(batch(bursts(), { count: 10, waitMs: 0 }))).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
  });

  test("whatever the timing of items and of the reader, nothing is lost, and no group waits for a late item", async () => {
    const pause = fc.constantFrom("none", "turn", "long");
    const pauses = async (kind: "none" | "turn" | "long") => {
      if (kind !== "none") await (kind === "turn" ? new Promise(setImmediate) : sleep(20));
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(pause, { maxLength: 12 }),
        fc.array(pause, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(0, 1),
        async (before, taking, waitMs) => {
          async function* items() {
            for (const [item, kind] of before.entries()) {
              await pauses(kind);
              yield item;
            }
          }
          const groups: number[][] = [];
          for await (const group of batch(items(), { count: 5, waitMs })) {
            groups.push(group);
            // Items on both sides of a long silence are never grouped, unless the reader was busy.
            if (taking.every((kind) => kind === "none")) {
              for (const item of group.slice(1)) expect(before[item]).not.toBe("long");
            }
            await pauses(taking[groups.length % taking.length]!);
          }
          expect(groups.flat()).toEqual([...before.keys()]);
        },
      ),
      { numRuns: 40 },
    );
  }, 30_000);

  test("yields the group so far before the source's failure", async () => {
    const reason = new Error("source broke");
    const groups: number[][] = [];
    const reading = (async () => {
      for await (const group of batch(failingAfter([1, 2, 3], reason), { count: 2 })) groups.push(group);
    })();
    await expect(reading).rejects.toBe(reason);
    expect(groups).toEqual([[1, 2], [3]]);
  });
});

test("groupRuns joins neighbours that share a key, and only neighbours", async () => {
  const runs = await collect(groupRuns(["a1", "a2", "b1", "a3"], (item) => item[0]));
  expect(runs).toEqual([["a1", "a2"], ["b1"], ["a3"]]);
});
