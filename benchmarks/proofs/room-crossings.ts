/**
 * Counts how often one document, or one question, crosses from a room of `src` to another, and how many layers stand between
 * a stage and its port. The built files are copied, and every function of the copy notes its room, file and name when it is
 * entered. A crossing is an entry into another room than the entry before it. Modules are loaded, and the store, the models and
 * the service are open, before the count begins; the service runs from files that note nothing, since it stands for another
 * machine. The ground floor (`core`, `text` and the like), whose functions anybody may call and which calls nobody, is counted
 * apart.
 *
 *     npm run bench room-crossings [--trace]
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startLocalService } from "../../src/entries/local.js";
import type * as Citewell from "../../src/index.js";
import { childrenOf, isNode as isSyntax, parse, type SyntaxNode } from "../../test/mutation/syntax-tree.js";

const dist = fileURLToPath(new URL("../../../dist/", import.meta.url));
// Below the project, so that packages are found.
const folder = fileURLToPath(new URL("../../crossings/", import.meta.url));
const showsTrace = process.argv.includes("--trace");
const groundFloor: ReadonlySet<string> = new Set("core contract dialects media text thread network sqlite".split(" "));

interface Entry {
  readonly room: string;
  readonly file: string;
  readonly name: string;
}

const entries: Entry[] = [];
/** Items that each async generator handed on, by file and name. */
const handedOn = new Map<string, number>();
let isCounting = false;
Object.assign(globalThis, {
  noteEntry: (file: string, name: string) => {
    if (isCounting) entries.push({ room: file.split("/")[0]!, file, name });
  },
  noteItem: (generator: string, item: unknown) => {
    if (isCounting) handedOn.set(generator, (handedOn.get(generator) ?? 0) + 1);
    return item;
  },
  noteItems: async function* (
    generator: string,
    items: AsyncIterable<unknown> | Iterable<unknown>,
  ): AsyncGenerator<unknown, unknown> {
    const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    try {
      for (;;) {
        const next = await iterator.next();
        if (next.done) return next.value;
        if (isCounting) handedOn.set(generator, (handedOn.get(generator) ?? 0) + 1);
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  },
});

rmSync(folder, { recursive: true, force: true });
const copied = join(folder, "dist");
cpSync(dist, copied, { recursive: true });
for (const path of readdirSync(copied, { recursive: true, encoding: "utf8" })) {
  // Workers, the page and the bundled command run elsewhere.
  if (!path.endsWith(".js") || /^(?:bin|cli|server\/page)\/|worker|process\.js$/.test(path)) continue;
  writeFileSync(join(copied, path), instrumented(readFileSync(join(copied, path), "utf8"), path));
}

const citewell = (await import(pathToFileURL(join(copied, "index.js")).href)) as typeof Citewell;
const service = await startLocalService();
const transport = citewell.createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const embedder = citewell.embedder(transport, { model: "citewell/local-lexical-m3" });
let framesToPort: readonly string[] = [];
const embed: typeof embedder.embed = (texts, options) => {
  if (options?.purpose === "document") framesToPort = framesAbove();
  return embedder.embed(texts, options);
};
const knowledgeBase = await citewell.openKnowledgeBase({
  path: join(folder, "store"),
  transport,
  // The fields of an embedder may be getters, which a spread would read once.
  embedder: Object.assign(Object.create(embedder) as typeof embedder, { embed }),
  models: { rerank: "citewell/local-lexical-rerank", chat: "citewell/local-extractive" },
});
const [loaded, counted] = ["loaded", "counted"].map((name) => join(folder, name)) as [string, string];
for (const path of [loaded, counted]) mkdirSync(path);
const text =
  "# Keys\n\nAda keeps the recovery key in the north office.\n\n## Laptops\n\nThey are replaced every four years.\n";
const question = "Who keeps the recovery key?";
// The first of each loads what is loaded on demand.
writeFileSync(join(loaded, "first.md"), text.replaceAll("the", "a"));
await knowledgeBase.ingest(citewell.readFolder(loaded));
await citewell.collectAnswer(knowledgeBase.ask(question));
writeFileSync(join(counted, "keys.md"), text);

await count("one Markdown document on its way to the store", () => knowledgeBase.ingest(citewell.readFolder(counted)));
console.log(`\nbetween embedChunks and the embedder: ${framesToPort.length} calls\n  ${framesToPort.join("\n  ")}`);
await count("one question on its way to its hits", () => knowledgeBase.search(question));
handedOn.clear();
let deltas = 0;
await count("one question on its way to its answer", async () => {
  for await (const event of knowledgeBase.ask(question)) if (event.type === "text-delta") deltas++;
});
const layers = [...handedOn].filter(([, items]) => items >= deltas).map(([generator]) => generator);
console.log(`\nbetween a token and its reader: ${layers.length} async generators\n  ${layers.join("\n  ")}`);
await knowledgeBase.close();
await transport.close();
await service.close();
rmSync(folder, { recursive: true, force: true });

async function count(title: string, work: () => Promise<unknown>): Promise<void> {
  entries.length = 0;
  isCounting = true;
  await work();
  isCounting = false;
  if (showsTrace) printTrace();
  const above = crossingsOf(entries.filter(({ room }) => !groundFloor.has(room)));
  console.log(`\n${title}: ${above.length} crossings, ${crossingsOf(entries).length} with the ground floor`);
  const counts = new Map<string, number>();
  for (const pair of above) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  for (const [pair, times] of counts) console.log(`${String(times).padStart(5)}  ${pair}`);
}

/** Each entry into another room than the one before, as `from → to`. */
function crossingsOf(all: readonly Entry[]): string[] {
  return all.flatMap(({ room }, index) => {
    const before = all[index - 1]?.room ?? room;
    return before === room ? [] : [`${before} → ${room}`];
  });
}

function printTrace(): void {
  for (const [index, { room, file, name }] of entries.entries()) {
    if (entries[index - 1]?.room !== room) console.log(`  ${room}`);
    console.log(`      ${relative(room, file)} ${name}`);
  }
}

/** Calls of the copy that lead from `embedChunks` to its port, innermost first; `store` reads what they give. */
function framesAbove(): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const stack = new Error("").stack!.split("\n");
  Error.stackTraceLimit = stackTraceLimit;
  const frames = stack.flatMap((line) => {
    const [, name, path] = /at (?:async )?(\S+) \(file:\/\/.*\/crossings\/dist\/(.*):\d+:\d+\)/.exec(line) ?? [];
    return name !== undefined && path !== undefined && /^stages\/(?!indexing\/store)/.test(path)
      ? [`${path} ${name}`]
      : [];
  });
  return frames;
}

/** The code with a call at the beginning of each function, and around each item that an async generator hands on. */
function instrumented(code: string, path: string): string {
  const insertions: { readonly offset: number; readonly text: string }[] = [];
  const names = new Map<SyntaxNode, string>();
  visit(parse(code, "js"), undefined);
  let result = code;
  for (const { offset, text: added } of insertions.toSorted((one, other) => other.offset - one.offset)) {
    result = result.slice(0, offset) + added + result.slice(offset);
  }
  return result;

  function visit(node: SyntaxNode, generator: string | undefined): void {
    const named = node["key"] ?? node["id"];
    const value = node["value"] ?? node["init"];
    if (isNamed(named) && typeof value === "object" && value !== null) names.set(value as SyntaxNode, named.name);
    let inner = generator;
    if (/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) {
      const body = node["body"] as SyntaxNode;
      const name = isNamed(node["id"]) ? node["id"].name : (names.get(node) ?? "(anonymous)");
      inner = node["async"] === true && node["generator"] === true ? `${path} ${name}` : undefined;
      const call = `globalThis.noteEntry?.(${JSON.stringify(path)}, ${JSON.stringify(name)})`;
      if (body.type === "BlockStatement") insertions.push({ offset: body.start + 1, text: `${call};` });
      else insertions.push({ offset: body.start, text: `(${call}, ` }, { offset: body.end, text: ")" });
    }
    const item = node["argument"];
    if (node.type === "YieldExpression" && inner !== undefined && isSyntax(item)) {
      const noting = node["delegate"] === true ? "noteItems" : "noteItem";
      insertions.push({ offset: item.start, text: `globalThis.${noting}(${JSON.stringify(inner)}, ` });
      insertions.push({ offset: item.end, text: ")" });
    }
    for (const child of childrenOf(node)) visit(child, inner);
  }
}

function isNamed(value: unknown): value is { readonly name: string } {
  return typeof value === "object" && value !== null && typeof (value as { name?: unknown }).name === "string";
}
