import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { citewell, citewellJson, commandFile, type IndexJson, type SearchJson } from "../support/citewell.js";
import { deck, everyKind, photo } from "../support/pictured-files.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { visionService } from "../support/vision-service.js";

const flags = ["--describe-pictures", "--picture-model", "test/see", "--embedding-model", "test/embed-m3"];

interface PicturesJson {
  readonly pictures?: Readonly<Record<"described" | "reused" | "tokens" | "requestTokens" | "maxReplyTokens", number>>;
  readonly stopped?: { readonly reason: string };
  readonly warnings: readonly string[];
}

/** The files that hold descriptions in a store's folder. */
function keptIn(store: string): readonly string[] {
  const folder = join(store, "pictures");
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
}

test("the tokens of a plan are those that the service counts, each picture is sent once, and its words are found", async () => {
  const cwd = await temporaryFolder();
  const folder = await everyKind();
  // The picture of the page is met first as part of it, or by itself: its caption would go with it or not.
  await writeFile(join(folder, "a.md"), "# Guide\n\nWords alone.\n");
  const service = await visionService(({ sha256 }) => `A zebra numbered ${sha256.slice(0, 8)}.`);
  const environment = { CITEWELL_BASE_URL: service.baseUrl, CITEWELL_API_KEY: "key" };
  const plan = await citewellJson<PicturesJson>(["plan", folder, ...flags], { cwd, environment });
  expect(service.seen()).toHaveLength(0);
  expect(plan.pictures).toMatchObject({ described: 4, reused: 0, maxReplyTokens: 4 * 1024 });

  const report = await citewellJson<IndexJson & PicturesJson>(["index", folder, ...flags], { cwd, environment });
  expect(report.documents).toMatchObject({ added: 5, failed: 0 });
  expect(service.seen()).toHaveLength(4);
  expect(service.promptTokens()).toBe(plan.pictures!.requestTokens);
  const replies = report.pictures!.tokens - service.promptTokens();
  expect(report.pictures).toMatchObject({ described: 4, reused: 0 });
  expect(replies).toBeGreaterThan(0);

  const words = ["search", "zebra", "--mode", "lexical", "--embedding-model", "test/embed-m3"];
  const { hits } = await citewellJson<SearchJson>(words, { cwd, environment });
  expect(hits).toHaveLength(4);
  // Read anew, from what is kept.
  const again = await citewellJson<PicturesJson>(["index", folder, "--reread", ...flags], { cwd, environment });
  expect(again.pictures).toEqual({ described: 0, reused: 4, tokens: 0 });
  const after = await citewell(["plan", folder, "--reread", ...flags], { cwd, environment });
  expect(after.stdout).toContain("Pictures   0 to describe, 4 described before");
  expect(service.seen()).toHaveLength(4);
});

test("killed and run again, no picture that was answered is sent a second time", async () => {
  const cwd = await temporaryFolder();
  const folder = await temporaryFolder();
  for (const seed of [3, 5, 7, 11, 13, 17]) await writeFile(join(folder, `${seed}.png`), await photo(seed));
  let isHeld = true;
  // The fourth and later requests wait until the process is killed.
  const service = await visionService((_, __, index) => {
    const held = isHeld && index >= 3;
    return held ? { hang: true } : "A zebra.";
  });
  const environment = { ...process.env, CITEWELL_BASE_URL: service.baseUrl, CITEWELL_API_KEY: "key" };
  const words = ["index", folder, ...flags, "--pictures-at-once", "1"];
  const child = spawn(process.execPath, [commandFile, ...words], { cwd, env: environment, stdio: "ignore" });
  const store = join(cwd, ".citewell");
  while (service.seen().length < 4) await sleep(10);
  expect(keptIn(store)).toHaveLength(3);
  child.kill("SIGKILL");
  await once(child, "close");
  isHeld = false;

  const report = await citewellJson<IndexJson & PicturesJson>(words, {
    cwd,
    environment: { CITEWELL_BASE_URL: service.baseUrl, CITEWELL_API_KEY: "key" },
  });
  expect(report.documents).toMatchObject({ failed: 0 });
  expect(report.pictures).toMatchObject({ described: 3, reused: 3 });
  const answered = await service.answered();
  expect(answered).toHaveLength(6);
  expect(new Set(answered).size).toBe(6);
});

test("a budget ends the run before the picture that would pass it, and the next run goes on", async () => {
  const cwd = await temporaryFolder();
  const folder = await temporaryFolder();
  for (const seed of [3, 5, 7]) await writeFile(join(folder, `${seed}.png`), await photo(seed));
  const service = await visionService(() => "A zebra.");
  const environment = { CITEWELL_BASE_URL: service.baseUrl, CITEWELL_API_KEY: "key" };
  const words = ["index", folder, ...flags, "--pictures-at-once", "1"];
  const first = await citewell([...words, "--budget-tokens", "1400", "--json"], { cwd, environment });
  expect(first.exitCode).toBe(1);
  const stopped = JSON.parse(first.stdout) as PicturesJson;
  expect(stopped.stopped?.reason).toMatch(/The budget is 1,400 tokens/);
  const sent = service.seen().length;
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(3);
  const rest = await citewellJson<IndexJson & PicturesJson>(words, { cwd, environment });
  expect(rest.documents.failed).toBe(0);
  expect(service.seen()).toHaveLength(3);
});

test("a picture that is refused, huge, damaged, scripted or of a wrong type is named, and all else is indexed", async () => {
  const cwd = await temporaryFolder();
  const folder = await temporaryFolder();
  const huge = Buffer.from(await photo(23));
  huge.writeUInt32BE(10_000, 16);
  huge.writeUInt32BE(10_000, 20);
  // It unpacks to a thousand times its size, and nobody unpacks it.
  const bomb = Buffer.concat([(await photo(29)).subarray(0, 33), Buffer.alloc(40_000)]);
  const files = {
    "refused.png": await photo(13),
    "huge.png": huge,
    "bomb.png": bomb,
    "drawn.svg": "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    "good.png": await photo(17),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  await writeFile(join(folder, "deck.pptx"), deck(await photo(31)));
  const links = [...Object.keys(files).map((name) => `![](${name})`), "![](data:text/html;base64,PGI+)"];
  await writeFile(join(folder, "page.md"), `Words of the page.\n\n${links.join("\n\n")}\n`);
  const refused = (await readFile(join(folder, "refused.png"))).toString("base64");
  const service = await visionService(({ bytes }) => {
    if (bytes.toString("base64") === refused) return { status: 400, json: { code: 20_021, message: "unsafe" } };
    return bytes.length === bomb.length ? { status: 400, json: { code: 20_038, message: "bad image" } } : "A zebra.";
  });
  const environment = { CITEWELL_BASE_URL: service.baseUrl, CITEWELL_API_KEY: "key" };
  const { stdout, exitCode } = await citewell(["index", folder, ...flags, "--json"], { cwd, environment });
  const report = JSON.parse(stdout) as IndexJson & PicturesJson & { skipped: { uri: string; reason: string }[] };
  expect(report.documents.added).toBe(3);
  expect(exitCode).toBe(1);
  const reasons = report.warnings.join("\n");
  expect(reasons).toMatch(/page\.md: the picture refused\.png is not described: .*unsafe/);
  expect(reasons).toMatch(/page\.md: the picture huge\.png has 10000×10000 pixels/);
  expect(reasons).toMatch(/page\.md: the picture bomb\.png is not described: .*bad image/);
  expect(reasons).toMatch(/page\.md: the picture drawn\.svg is no PNG/);
  expect(reasons).toMatch(/page\.md: a picture is data of the type "text\/html"/);
  const failed = report.failures.map(({ uri, error }) => [uri.split("/").at(-1), error]);
  expect(failed).toEqual([
    ["bomb.png", expect.stringContaining("bad image")],
    ["huge.png", expect.stringContaining("10000×10000 pixels")],
    ["refused.png", expect.stringContaining("unsafe")],
  ]);
  // Refused once, whatever documents it stands in.
  expect(service.seen()).toHaveLength(4);
});

test("pictures cost nothing unless they are asked for, and the local stand-in describes them without a service", async () => {
  const cwd = await temporaryFolder();
  const folder = await everyKind();
  const plain = await citewellJson<PicturesJson>(["index", folder], { cwd });
  expect(plain.pictures).toBeUndefined();
  const misused = await citewell(["index", folder, "--max-pictures", "3"], { cwd });
  expect(misused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--describe-pictures") });
  const report = await citewellJson<PicturesJson>(["index", folder, "--describe-pictures"], { cwd });
  expect(report.pictures).toMatchObject({ described: 4 });
  const { hits } = await citewellJson<SearchJson>(["search", "pixels", "--mode", "lexical"], { cwd });
  expect(hits.some(({ text }) => text.includes("200 by 200 pixels"))).toBe(true);
});
