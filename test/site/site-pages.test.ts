import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contents } from "../../site/generate/contents.js";
import { root } from "../support/citewell.js";
import { compileSamples } from "../support/compile-samples.js";
import { runNode } from "../support/run-process.js";

const folder = join(root, "site/pages");
const pages = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => ({ path: name.replace(/\.md$/, ""), text: readFileSync(join(folder, name), "utf8") }));

test("every page that is written for the site has its place in the order of the site, and is at most a page long", () => {
  const listed = contents.flatMap((part) => part.pages);
  expect(pages.length).toBeGreaterThan(15);
  expect(pages.map(({ path }) => path).filter((path) => !listed.includes(path))).toEqual([]);
  expect(pages.filter(({ text }) => text.trimEnd().split("\n").length > 60).map(({ path }) => path)).toEqual([]);
});

test("every page says first what one will have, and ends with what to read next", () => {
  const first = pages.filter(({ text }) => !/^# .+\n\n(?:You will (?:have|know|see) |citewell is )/.test(text));
  expect(first.map(({ path }) => path)).toEqual([]);
  const last = pages.filter(({ text }) => !/^## What to read next\n\n.*\]\(.*(?:\n.+)*\s*$/m.test(text));
  expect(last.map(({ path }) => path)).toEqual([]);
});

test("the page of formats names every ending that has a loader of its own, and none besides", async () => {
  const source = readFileSync(join(root, "src/load/formats/formats.ts"), "utf8");
  const table = /^const known:[\s\S]*?^\];/m.exec(source)![0];
  const known = [...table.matchAll(/, "((?:\.\w+ ?)+)",/g)].map(([, some]) => some!);
  const pictures = /^const pictures = \[\s*"((?:\.\w+ ?)+)"/m.exec(source)![1]!;
  const endings = [...known, pictures].join(" ");
  const { text } = pages.find(({ path }) => path === "documents/formats")!;
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((line) => [...line.split("|")[1]!.matchAll(/`(\.\w+)`/g)].map(([, ending]) => ending!));
  const wanted = endings.split(" ").filter((ending) => ending !== "");
  expect(wanted.length).toBeGreaterThan(70);
  expect(named.toSorted()).toEqual([...new Set(wanted)].toSorted());
});

test("the samples of the pages compile", async () => {
  const samples = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```ts(?: service)?\n([\s\S]*?)^```$/gm)].map(
      ([, code], index) => [`${path.replace("/", "-")}-${index}`, code!] as const,
    ),
  );
  expect(samples.length).toBeGreaterThan(10);
  await compileSamples("site-samples", new Map(samples));
}, 60_000);

test("every command and flag that the pages show exists", async () => {
  const lines = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, code]) =>
      [...code!.matchAll(/^(?:npx )?citewell ([a-z]+)(.*)$/gm)].map(([, command, rest]) => ({
        path,
        command: command!,
        flags: [...rest!.matchAll(/ (--[a-z-]+)/g)].map(([, flag]) => flag!),
      })),
    ),
  );
  expect(lines.length).toBeGreaterThan(15);
  const commands = [...new Set(lines.map(({ command }) => command))];
  const help = new Map<string, string>();
  for (const command of commands) {
    const { exitCode, stdout } = await runNode(join(root, "dist/bin/citewell.js"), [command, "--help"]);
    expect({ command, exitCode }).toEqual({ command, exitCode: 0 });
    help.set(command, stdout);
  }
  const unknown = lines.flatMap(({ path, command, flags }) =>
    flags
      .filter((flag) => !help.get(command)!.includes(`${flag} `))
      .map((flag) => `${path}: citewell ${command} ${flag}`),
  );
  expect(unknown).toEqual([]);
}, 30_000);
