import { expect, test } from "vitest";
import { FairQueue } from "../../../src/knowledge-base/readers/fair-queue.js";
import { seededRandom } from "../../support/seeded-random.js";

function drained(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) taken.push(next);
  return taken;
}

test("callers have their turns one after the other, each with its work in order", () => {
  const queue = new FairQueue<string>();
  for (const work of ["a1", "a2", "a3", "b1", "c1", "c2"]) queue.add(work[0]!, work);
  expect(queue.size).toBe(6);
  expect(drained(queue)).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
  expect(queue.size).toBe(0);
});

test("work that is taken out never has a turn, and takes none from others", () => {
  const queue = new FairQueue<string>();
  const remove = queue.add("a", "a1");
  queue.add("b", "b1");
  queue.add("a", "a2");
  remove();
  remove();
  expect(queue.size).toBe(2);
  expect(drained(queue)).toEqual(["a2", "b1"]);
  expect(queue.size).toBe(0);
});

test("whatever is added, taken and removed, no caller waits for more than one turn of each other", () => {
  const next = seededRandom(5);
  for (let round = 0; round < 40; round++) {
    const queue = new FairQueue<{ readonly caller: string; readonly number: number }>();
    const waiting = new Map<string, number[]>();
    const turns: string[] = [];
    for (let step = 0; step < 60; step++) {
      const caller = String(Math.floor(next() * 4));
      if (next() < 0.6) {
        const remove = queue.add(caller, { caller, number: step });
        const own = waiting.get(caller) ?? [];
        if (next() < 0.2) remove();
        else waiting.set(caller, [...own, step]);
        // A caller that comes anew waits for one turn of the others.
        if (own.length === 0) turns.push(`${caller} came`);
        continue;
      }
      const taken = queue.next();
      const expected = [...waiting.values()].some((own) => own.length > 0);
      expect(taken !== undefined).toBe(expected);
      if (!taken) continue;
      const own = waiting.get(taken.caller)!;
      expect(taken.number).toBe(own[0]);
      waiting.set(taken.caller, own.slice(1));
      for (const [other, works] of waiting) {
        if (other === taken.caller || works.length === 0) continue;
        const since = turns.findLastIndex((turn) => turn === other || turn === `${other} came`);
        expect(turns.slice(since + 1).filter((turn) => turn === taken.caller).length).toBeLessThanOrEqual(1);
      }
      turns.push(taken.caller);
    }
  }
});
