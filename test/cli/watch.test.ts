import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { citewellJson, commandFile, handbook, type SearchJson } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("index --watch keeps the store current, prints a line for each change, and ends with exit code 0 on Ctrl-C", async () => {
  const cwd = await temporaryFolder();
  const docs = join(cwd, "docs");
  await cp(handbook, docs, { recursive: true });
  const watching = spawn(process.execPath, [commandFile, "index", "docs", "--watch"], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void watching.kill("SIGKILL"));
  const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
  const said: string[] = [];
  const until = async (wanted: RegExp) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`it ended, having said:\n${said.join("\n")}`);
      said.push(value);
      if (wanted.test(value)) return;
    }
  };
  const found = async (query: string) => {
    const { hits } = await citewellJson<SearchJson>(["search", query, "--mode", "lexical"], { cwd });
    return hits.map(({ uri }) => uri.slice(uri.lastIndexOf("/") + 1));
  };

  await until(/^Watching for changes/);
  expect(said[0]).toBe("Documents  3 added");
  await writeFile(join(docs, "badgers.md"), "# Badgers\n\nA badger lives in a sett.\n");
  await until(/^added {3}docs\/badgers\.md \(1 chunk\)$/);
  expect(await found("badger sett")).toEqual(["badgers.md"]);
  await writeFile(join(docs, "badgers.md"), "# Badgers\n\nA badger digs.\n");
  await until(/^updated docs\/badgers\.md/);
  await rename(join(docs, "badgers.md"), join(docs, "moles.md"));
  await until(/^deleted docs\/badgers\.md$/);
  expect(await found("badger digs")).toEqual(["moles.md"]);
  for (let at = 0; at < 60; at++) await writeFile(join(docs, `burrow-${at}.md`), `# Burrow ${at}\n\nDeep.\n`);
  await until(/^and \d+ added more$/);
  expect(said.filter((line) => /^added {3}docs\/burrow-/.test(line)).length).toBeLessThan(60);
  for (let at = 0; at < 60; at++) await rm(join(docs, `burrow-${at}.md`));
  await until(/^and \d+ deleted more$/);
  await rm(join(docs, "moles.md"));
  await until(/^deleted docs\/moles\.md$/);
  expect(await found("badger digs")).toEqual([]);
  await writeFile(join(docs, "zero.pdf"), "");
  await until(/^failed {2}docs\/zero\.pdf is empty \(0 bytes\)$/);

  watching.kill("SIGINT");
  expect(await once(watching, "close")).toEqual([0, null]);
});
