import { expect, test } from "vitest";
import { runNode } from "../../support/run-process.js";
import { root } from "../../support/citewell.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { runWithPackages } from "../../support/bare-install.js";

test("a process that leaves a database open ends as it should, on every version of Node", async () => {
  const script = `
    import { openKnowledgeBase } from "citewell";
    const kb = await openKnowledgeBase({ path: ${JSON.stringify(await temporaryFolder())} });
    await kb.ingest([{ uri: "note:1", text: "Ada keeps the recovery key." }]);
    process.exit(3);`;
  const { exitCode, stderr } = await runNode("--input-type=module", ["--eval", script], { cwd: root });
  expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: "" });
});

test("without a package that fits this Node, the error says which one to install", async () => {
  const script = `
    import { loadSqlite } from "./dist/sqlite/database.js";
    try { loadSqlite(); } catch ({ code, message }) { console.log(code + ": " + message); }`;
  // Newer versions have a package that comes compiled.
  const comesCompiled = Number.parseInt(process.versions.node) >= 22;
  expect(await runWithPackages([], script)).toMatch(
    comesCompiled
      ? /^missing-package: .* better-sqlite3-13 is not there, .* `npm ci --ignore-scripts`/
      : /^missing-package: .* better-sqlite3 is not there\. .* `npm install better-sqlite3`/,
  );
});
