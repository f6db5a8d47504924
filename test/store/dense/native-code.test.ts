import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { sharedFlags, waitForNativeCode } from "../../../src/store/dense/graph/native-code.js";

const built = new URL("../../../dist/store/dense/graph/native-code.js", import.meta.url).href;

test("the end of the process waits for running native code, on the thread or beside it, and lets no more begin", async () => {
  const flags = sharedFlags();
  const steps = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData: { built, flags, steps } } = require("node:worker_threads");
    (async () => {
      const { NativeCode } = await import(built);
      const native = new NativeCode(flags);
      const asynchronous = native.runAsync(async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        Atomics.add(steps, 0, 1);
      });
      // A short call that ends while the long one is still under way.
      native.run(() => {});
      parentPort.postMessage("begun");
      await asynchronous;
      const refused = await Promise.allSettled([(async () => native.run(() => {}))(), native.runAsync(async () => {})]);
      parentPort.postMessage(refused.map(({ reason }) => reason?.message));
    })();`,
    { eval: true, workerData: { built, flags, steps } },
  );
  onTestFinished(async () => {
    await worker.terminate();
  });
  expect(await once(worker, "message")).toEqual(["begun"]);
  waitForNativeCode(flags);
  expect(steps[0]).toBe(1);
  expect(await once(worker, "message")).toEqual([["The process is ending", "The process is ending"]]);
});
