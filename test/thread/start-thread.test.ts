import { expect, test } from "vitest";
import { startThread } from "../../src/thread/worker-calls.js";

test("a thread whose file a bundle left out says which packages to leave external", () => {
  const start = () => startThread(new URL("left-out.js", import.meta.url), {});
  expect(start).toThrow(expect.objectContaining({ code: "missing-package" }));
  expect(start).toThrow(/Leave citewell, better-sqlite3 and hnswlib-node external/);
});
