import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openKnowledgeBase } from "citewell";
import { aimsOf } from "./aims.js";
import type { Benchmark, Contender, RunContext } from "./runner/benchmark.js";
import { project } from "./runner/project.js";
import { seededRandom } from "../test/support/seeded-random.js";

/** The words of a command line of Node, given the folder of the store, and a text that its output must hold. */
export interface Started {
  readonly words: (store: string) => readonly string[];
  readonly says?: RegExp;
}

const command = join(project, "dist/bin/citewell.js");
const sought = "zyzzyva";

export const benchmark: Benchmark<Started, string> = {
  name: "open",
  question: "How long does a command take before it works, or an import?",
  method:
    'Whole processes, from start to end, by the clock and by their CPU, beside a bare `node --eval ""`; each is started twice, and the ' +
    "second counts, so that files are in memory. The store of the search has `chunks` chunks of made words, embedded by the " +
    "local service, and the sought word stands in one of them: an answer without it fails. A peer is imported, no more: its own " +
    "commands do not exist. Much of each process is Node itself, so a difference of 10 ms is noise.",
  contenders: [
    { name: "bare Node", kind: "limit", load: async () => ({ words: () => ["--eval", ""] }) },
    importing("import undici and zod", "limit", ["undici", "zod"]),
    importing('import "citewell"', "citewell", ["citewell"]),
    importing('import "citewell/transport"', "citewell", ["citewell/transport"]),
    {
      name: "citewell --help",
      kind: "citewell",
      load: async () => ({ words: () => [command, "--help"], says: /Usage/ }),
    },
    {
      name: "citewell search",
      kind: "citewell",
      load: async () => ({
        words: (store) => [command, "search", sought, "--store", store, "--json"],
        says: /zyzzyva/,
      }),
    },
    importing("import LangChain.js", "peer", [
      "@langchain/core/documents",
      "@langchain/textsplitters",
      "@langchain/community/vectorstores/hnswlib",
    ]),
    importing("import LlamaIndexTS core", "peer", ["@llamaindex/core/node-parser", "@llamaindex/core/schema"]),
    importing("import AI SDK", "peer", ["ai"]),
    importing("import Mastra RAG", "peer", ["@mastra/rag"]),
  ],
  beside: "bare Node",
  measures: {},
  sizes: { smoke: { chunks: 200 }, usual: { chunks: 10_000 } },
  rounds: 5,
  aims: aimsOf("open"),
  prepare: makeStore,
  measure: async ({ words, says }: Started, { given, timed }: RunContext<string>) => {
    const start = () => spawnSync(process.execPath, words(given), { cwd: project, encoding: "utf8" });
    start();
    const { result } = await timed(start);
    if (result.status !== 0) throw new Error(result.stderr.slice(-500));
    if (says && !says.test(result.stdout)) throw new Error(`it does not say ${says}: ${result.stdout.slice(0, 200)}`);
    return {};
  },
};

function importing(name: string, kind: Contender<never>["kind"], specifiers: readonly string[]): Contender<Started> {
  const packages = specifiers.map((each) =>
    each
      .split("/")
      .slice(0, each.startsWith("@") ? 2 : 1)
      .join("/"),
  );
  const home = createRequire(join(project, kind === "peer" ? "benchmarks/peers/package.json" : "package.json"));
  return {
    name,
    kind,
    ...(kind === "peer" && { packages: [...new Set(packages)] }),
    load: async () => {
      const imports = specifiers.map((each) => {
        const path = kind === "citewell" ? import.meta.resolve(each) : pathToFileURL(home.resolve(each)).href;
        return `await import(${JSON.stringify(path)});`;
      });
      return { words: () => ["--input-type=module", "--eval", `${imports.join("")}process.exit()`] };
    },
  };
}

/** A store of one chunk a document. */
async function makeStore({ chunks = 0 }) {
  const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  const next = seededRandom(1);
  const word = () => `w${Math.floor(20_000 ** next()).toString(36)}x`;
  const kb = await openKnowledgeBase({ path: join(folder, "store") });
  await kb.ingest(
    Array.from({ length: chunks }, (_, at) => {
      const words = Array.from({ length: 60 }, word).join(" ");
      return { uri: `made:${at}`, text: at === 0 ? `${words} ${sought}` : words };
    }),
  );
  await kb.close();
  return { given: join(folder, "store"), close: () => rmSync(folder, { recursive: true, force: true }) };
}
