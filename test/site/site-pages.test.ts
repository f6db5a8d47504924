import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { contents } from "../../site/generate/contents.js";
import { root } from "../support/citewell.js";
import { served } from "../support/served.js";
import { compileSamples } from "../support/compile-samples.js";
import { runNode } from "../support/run-process.js";

interface OwnPage {
  readonly ask: (
    question: string,
    show: (event: Readonly<Record<string, unknown>> & { readonly type: string }) => void,
    signal: AbortSignal,
  ) => Promise<void>;
}

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

test("the page of one's own reads an answer of the server, event by event, with the fields that its table names", async () => {
  const { text } = pages.find(({ path }) => path === "server/own-page")!;
  const [, code] = /^```ts service\n([\s\S]*?)^```$/m.exec(text)!;
  const { url } = await served([{ uri: "memo:gate", text: "The gate opens at nine." }]);
  const compiled = await compileSamples(
    "own-page-sample",
    new Map([["ask", code!.replace("https://docs.example.com", url)]]),
  );
  const { ask } = (await import(pathToFileURL(join(compiled, "ask.js")).href)) as OwnPage;
  const events: Parameters<Parameters<OwnPage["ask"]>[1]>[0][] = [];
  await ask("When does the gate open?", (event) => events.push(event), new AbortController().signal);
  expect(events[0]).toMatchObject({ type: "searching" });
  expect(events.at(-1)).toMatchObject({ type: "finish", answered: true, remarks: [] });
  const rows = [...text.matchAll(/^\| `([a-z-]+)` +\| (.*?) *\|$/gm)].map(([, type, fields]) => ({
    type,
    fields: fields!,
  }));
  for (const type of ["retrieved", "text-delta", "citation", "finish"]) {
    const event = events.find((each) => each.type === type)!;
    const given = { ...event, ...(event["citation"] as object), ...(event["passages"] as object[] | undefined)?.[0] };
    const named = [...rows.find((row) => row.type === type)!.fields.matchAll(/`([a-z]\w*)`/gi)].map(
      ([, name]) => name!,
    );
    // The model's waiting calls, lines and pages are there only where there are some.
    const missing = named.filter((name) => !(name in given) && !["line", "page", "title", "waiting"].includes(name));
    expect({ type, missing, count: named.length > 0 }).toEqual({ type, missing: [], count: true });
  }
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
