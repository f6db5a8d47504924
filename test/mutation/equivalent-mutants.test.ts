import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/citewell.js";
import { equivalentMutants } from "./equivalent-mutants.js";

test("each mutant that is named as equivalent still has its line in its file", () => {
  const stale = equivalentMutants.filter(({ file, line }) => {
    const path = join(root, file);
    if (!existsSync(path)) return true;
    return !readFileSync(path, "utf8")
      .split("\n")
      .some((each) => each.trim() === line);
  });
  expect(stale.map(({ file, line }) => `${file}: ${line}`)).toEqual([]);
});
