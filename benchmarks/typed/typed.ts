import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Document, openKnowledgeBase, readFolder } from "citewell";
import { rankDocuments } from "citewell/evaluate";
import { aimsOf } from "../aims.js";
import type { Benchmark, Contender, RunContext } from "../runner/benchmark.js";
import { loadPeer } from "../runner/packages.js";
import { project } from "../runner/project.js";

/** Finds pages of a manual. */
interface Index {
  /** The uris of the best pages, best first. */
  readonly search: (text: string) => Promise<readonly string[]>;
  readonly close?: () => Promise<void>;
}

type Subject = (pages: AsyncIterable<Document>) => Promise<Index>;

interface Search {
  readonly manual: string;
  readonly kind: string;
  readonly text: string;
  /** Pages that whoever typed this may have meant. */
  readonly pages: readonly string[];
}

const kinds = ["words", "title", "typo", "prefix", "identifier", "code"];
const first = 3;

const shared = join(project, "../shared/data/docs-corpus");

/** The manuals, and whether rules may be chosen on the searches of each. */
const manuals = [
  { name: "opentelemetry", root: join(shared, "en"), parts: ["docs", "blog"], half: "chosen" },
  { name: "opentelemetry-zh", root: join(shared, "zh"), parts: ["docs"], half: "chosen" },
  {
    name: "undici",
    root: join(project, "node_modules/undici/docs/docs"),
    parts: ["api", "best-practices"],
    half: "chosen",
  },
  {
    name: "python3-doc",
    root: "/usr/share/doc/python3-doc/html",
    parts: ["tutorial", "howto", "faq", "using", "library"],
    half: "unseen",
  },
  { name: "debian-policy", root: "/usr/share/doc/debian-policy/policy.html", parts: [""], half: "unseen" },
] as const;

const halves = ["chosen", "unseen"] as const;

export const benchmark: Benchmark<Subject> = {
  name: "typed",
  question: "How often is the page among the first three for what people type into a search box?",
  method:
    "205 searches of five manuals in six kinds, written after the pages' titles, headings and words (`typed/searches.jsonl`): a few words, the word that is a page's title, " +
    "typing errors, words that are not typed to their end, identifiers in parts or with signs, versions and codes. Rules may be chosen on " +
    "OpenTelemetry's and undici's, 104 searches; unseen are those of Python's manual and Debian's policy, of which no search was looked at alone. Every contender gets the same pages with their titles. " +
    "MiniSearch is tuned as its users do: fuzzy 0.2, prefixes, titles four times; Orama has a tolerance of 1 and the same boost. Neither has a " +
    "tokenizer for Chinese by default (14 searches).",
  contenders: [
    citewell("citewell", {}),
    citewell("citewell, reranked", { reranked: 40 }),
    citewell("citewell, as typed", { correct: false }),
    miniSearch(),
    orama(),
  ],
  beside: "MiniSearch, tuned",
  measures: Object.fromEntries(
    halves.flatMap((half) => ["all", ...kinds].map((kind) => [`${half}, ${kind}`, { unit: "%", better: "higher" }])),
  ),
  sizes: { smoke: { manuals: 1, searches: 10 }, usual: { manuals: manuals.length, searches: 0 } },
  rounds: 1,
  aims: aimsOf("typed"),
  unavailable: () =>
    manuals.some(({ root }) => existsSync(root)) ? undefined : "none of the manuals is installed on this machine",
  measure: measureSearches,
};

async function measureSearches(subject: Subject, { size, timed }: RunContext<undefined>) {
  const found = new Map<string, { hits: number; searches: number }>();
  const installed = manuals.filter(({ root }) => existsSync(root));
  for (const { name, root, parts, half } of installed.toReversed().slice(0, size["manuals"])) {
    const searches = searchesOf(name).slice(0, size["searches"] || Infinity);
    const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
    // Folders below node_modules are passed over.
    for (const part of parts) cpSync(realpathSync(join(root, part)), join(folder, part), { recursive: true });
    const index = await subject(readFolder(folder, { include: ["**/*.md", "**/*.html"], exclude: ["**/_sources/**"] }));
    try {
      await timed(async () => {
        for (const { kind, text, pages } of searches) {
          const uris = (await index.search(text)).slice(0, first);
          const hit = pages.some((page) => uris.some((uri) => uri === page || uri.endsWith(`/${page}`)));
          for (const key of [`${half}, all`, `${half}, ${kind}`]) {
            const { hits, searches: asked } = found.get(key) ?? { hits: 0, searches: 0 };
            found.set(key, { hits: hits + (hit ? 1 : 0), searches: asked + 1 });
          }
        }
      });
    } finally {
      await index.close?.();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return Object.fromEntries(Array.from(found, ([key, { hits, searches }]) => [key, (100 * hits) / searches]));
}

function searchesOf(manual: string): readonly Search[] {
  const lines = readFileSync(join(project, "benchmarks/typed/searches.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Search).filter((search) => search.manual === manual);
}

function citewell(
  name: string,
  options: { readonly reranked?: number; readonly correct?: boolean },
): Contender<Subject> {
  const index: Subject = async (pages) => {
    const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
    const kb = await openKnowledgeBase({ path: folder });
    await kb.ingest(pages);
    return {
      search: async (text) =>
        rankDocuments(async (wanted) => {
          const kept = Math.max(wanted, 10);
          const { reranked, ...others } = options;
          const size = reranked === undefined ? { count: kept } : { count: Math.max(kept, reranked), topN: kept };
          return (await kb.search(text, { ...others, ...size })).hits;
        }, first),
      close: async () => {
        await kb.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  };
  return { name, kind: "citewell", load: async () => index };
}

async function textsOf(pages: AsyncIterable<Document>) {
  const texts: { readonly id: string; readonly title: string; readonly text: string }[] = [];
  for await (const { uri, title = basename(uri), text } of pages) texts.push({ id: uri, title, text });
  return texts;
}

interface MiniSearchModule {
  readonly default: new (options: { readonly fields: readonly string[] }) => {
    addAll(documents: readonly object[]): void;
    search(
      query: string,
      options: { readonly fuzzy: number; readonly prefix: boolean; readonly boost: { readonly title: number } },
    ): readonly { readonly id: string }[];
  };
}

function miniSearch(): Contender<Subject> {
  const index: Subject = async (pages) => {
    const { default: MiniSearch } = await loadPeer<MiniSearchModule>("minisearch");
    const made = new MiniSearch({ fields: ["title", "text"] });
    made.addAll(await textsOf(pages));
    return {
      search: async (text) => made.search(text, { fuzzy: 0.2, prefix: true, boost: { title: 4 } }).map(({ id }) => id),
    };
  };
  return { name: "MiniSearch, tuned", kind: "peer", packages: ["minisearch"], load: async () => index };
}

interface OramaModule {
  readonly create: (options: { readonly schema: object }) => object;
  readonly insertMultiple: (index: object, documents: readonly object[]) => Promise<unknown>;
  readonly search: (
    index: object,
    query: { readonly term: string; readonly limit: number; readonly tolerance: number; readonly boost: object },
  ) => Promise<{ readonly hits: readonly { readonly document: { readonly id: string } }[] }>;
}

function orama(): Contender<Subject> {
  const index: Subject = async (pages) => {
    const { create, insertMultiple, search } = await loadPeer<OramaModule>("@orama/orama");
    const made = create({ schema: { id: "string", title: "string", text: "string" } });
    await insertMultiple(made, await textsOf(pages));
    return {
      search: async (term) =>
        (await search(made, { term, limit: first, tolerance: 1, boost: { title: 4 } })).hits.map(
          ({ document }) => document.id,
        ),
    };
  };
  return { name: "Orama", kind: "peer", packages: ["@orama/orama"], load: async () => index };
}
