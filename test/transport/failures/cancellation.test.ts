import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Cancellation, maxTimerMs, Stopped } from "../../../src/transport/failures/cancellation.js";

const closed = { kind: "closed" } as const;

test("whoever begins to listen after the stop is told at once", () => {
  const call = new Cancellation({});
  call.stop(closed);
  const heard: Stopped[] = [];
  call.listen((stopped) => heard.push(stopped));
  expect(heard.map(({ why }) => why)).toEqual([closed]);
});

test("only the first reason to stop counts, and is told once", () => {
  const caller = new AbortController();
  const call = new Cancellation({ signal: caller.signal });
  const heard: Stopped[] = [];
  call.listen((stopped) => heard.push(stopped));
  caller.abort("enough");
  call.stop(closed);
  expect(heard.map(({ why }) => why)).toEqual([{ kind: "aborted", reason: "enough" }]);
  expect(() => call.throwIfStopped()).toThrow(heard[0]!);
});

test("a signal that was aborted before stops the call before it begins", () => {
  const call = new Cancellation({ signal: AbortSignal.abort("too late") });
  expect(() => call.throwIfStopped()).toThrow(Stopped);
});

test.each([0, -1])("a deadline in %i ms is over at once", (deadlineMs) => {
  const heard: Stopped[] = [];
  new Cancellation({ deadlineMs }).listen((stopped) => heard.push(stopped));
  expect(heard.map(({ why }) => why)).toEqual([{ kind: "deadline", deadlineMs }]);
});

test("a deadline stops the call when it passes, and is noticed while the process is busy too", async () => {
  const call = new Cancellation({ deadlineMs: 5 });
  await expect(call.sleep(60_000)).rejects.toMatchObject({ why: { kind: "deadline", deadlineMs: 5 } });
  const busy = new Cancellation({ deadlineMs: 5 });
  while (performance.now() < busy.deadlineAtMs!);
  expect(() => busy.throwIfStopped()).toThrow(Stopped);
});

test("deadlines and waits longer than a timer holds are not cut short", async () => {
  expect(maxTimerMs).toBe(2_147_483_647);
  const call = new Cancellation({ deadlineMs: maxTimerMs + 1 });
  const waiting = call.sleep(maxTimerMs + 1);
  expect(await Promise.race([waiting, sleep(20, "still waiting")])).toBe("still waiting");
  expect(() => call.throwIfStopped()).not.toThrow();
  call.stop(closed);
  await expect(waiting).rejects.toMatchObject({ why: closed });
});

test("a call that has ended holds on to nothing of its caller, and stops nothing", () => {
  const caller = new AbortController();
  const call = new Cancellation({ signal: caller.signal, deadlineMs: 60_000 });
  const heard: Stopped[] = [];
  call.listen((stopped) => heard.push(stopped));
  expect(getEventListeners(caller.signal, "abort")).toHaveLength(1);
  call.end();
  expect(getEventListeners(caller.signal, "abort")).toHaveLength(0);
  caller.abort("enough");
  call.stop(closed);
  expect(heard).toEqual([]);
});
