import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { runNode } from "../../../support/run-process.js";
import { temporaryFolder } from "../../temporary-folder.js";

const built = (file: string) =>
  JSON.stringify(new URL(`../../../../dist/store/dense/graph/quantized/${file}`, import.meta.url).href);

test("the thread that holds a graph ends when one that links it dies, since slots may be left locked", async () => {
  const folder = temporaryFolder();
  const [holds, links] = [join(folder, "holds.mjs"), join(folder, "links.mjs")];
  writeFileSync(links, `throw new Error("no memory is left");`);
  writeFileSync(
    holds,
    `
    import { GraphMemory, sharedGraph } from ${built("graph-memory.js")};
    import { LinkingThreads } from ${built("linking-threads.js")};
    const memory = new GraphMemory(sharedGraph(4, 8, 16), 0);
    new LinkingThreads(memory, 100, new URL(${JSON.stringify(pathToFileURL(links).href)})).start();
    setTimeout(() => process.exit(0), 60_000);`,
  );
  const { exitCode, stderr } = await runNode(holds, []);
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("A thread that builds the graph died: no memory is left");
});
