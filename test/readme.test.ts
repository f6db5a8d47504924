import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { compileSamples } from "./support/compile-samples.js";
import { runNode } from "./support/run-process.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const readme = await readFile(join(root, "README.md"), "utf8");

const blocks = [...readme.matchAll(/^```(\w+)( service)?\n([\s\S]*?)^```$/gm)].map(([, language, needs, code]) => ({
  language,
  code: code!,
  /** Whether it is compiled and not run, because it asks a service that is not here. */
  needsService: needs !== undefined,
}));
const samples = blocks.filter(({ language }) => language === "ts");
const runnable = samples.flatMap(({ needsService }, index) => (needsService ? [] : [index]));
const commands = blocks
  .filter(({ language }) => language === "sh")
  .flatMap(({ code }) => code.split("\n"))
  .filter((line) => line.startsWith("citewell "))
  .map((line) => line.replace(/\s+#.*$/, ""));

/** A folder with documents in `docs`, as the samples expect. */
async function userFolder(): Promise<string> {
  const folder = await temporaryFolder();
  await cp(join(root, "test/fixtures/handbook"), join(folder, "docs"), { recursive: true });
  return folder;
}

describe("README", () => {
  test("is at most 120 lines and has samples", () => {
    expect(readme.split("\n").length).toBeLessThanOrEqual(121);
    expect(runnable.length).toBeGreaterThanOrEqual(2);
    expect(commands.length).toBeGreaterThanOrEqual(3);
  });

  describe("samples", () => {
    let built: string;
    beforeAll(async () => {
      built = await compileSamples("readme", new Map(samples.map(({ code }, index) => [`sample-${index}`, code])));
    }, 60_000);

    test.each(runnable)("sample %i compiles and runs", { timeout: 60_000 }, async (index) => {
      const { exitCode, stderr } = await runNode(join(built, `sample-${index}.js`), [], {
        cwd: await userFolder(),
      });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    });
  });

  test("the commands run, one after the other, in a folder with documents", { timeout: 120_000 }, async () => {
    const cwd = await userFolder();
    for (const command of commands) {
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!).slice(1);
      const { exitCode, stderr } = await runNode(join(root, "dist/bin/citewell.js"), words, { cwd });
      expect({ command, exitCode, stderr }).toMatchObject({ command, exitCode: 0 });
    }
  });
});
