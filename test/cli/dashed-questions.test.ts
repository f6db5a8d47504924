import { expect, test } from "vitest";
import { citewell } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test.each([
  [["search", "-leave"], 'citewell search -- "-leave …"'],
  [["ask", "-keys", "expire"], 'citewell ask -- "-keys …"'],
])("%j says how a question that begins with a dash is asked", async (words, hint) => {
  const { exitCode, stderr } = await citewell(words, { cwd: await temporaryFolder({}) });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`belongs to the question, quote the question and put -- before it: ${hint}`);
});

test("a mistyped flag is told no such thing", async () => {
  const { stderr } = await citewell(["search", "keys", "--limt", "3"], { cwd: await temporaryFolder({}) });
  expect(stderr).toContain("--limit");
  expect(stderr).not.toContain("belongs to the question");
});
