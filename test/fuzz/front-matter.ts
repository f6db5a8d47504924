import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { openKnowledgeBase, readFolder } from "citewell";
import { dump } from "js-yaml";
import { seededRandom } from "../support/seeded-random.js";
import type { Fuzzing } from "./documents.js";
import { below, mutated, oneOf, type Random } from "./mutate.js";

const scalars: readonly unknown[] = [
  "a",
  "",
  "yes",
  "~",
  "1e3",
  "0x1f",
  "2024-05-01",
  " a: b",
  "#",
  "'",
  "\u{1f600}",
  "\n",
  0,
  -1,
  1.5,
  1e21,
  true,
  false,
  null,
];
const keys = ["title", "tags", "date", "__proto__", "constructor", "toString", "a b", "a.b", "é", "0"];

function shapeOf(random: Random, depth: number): unknown {
  if (depth === 0 || random() < 0.5) return oneOf(random, scalars);
  const items = Array.from({ length: below(random, 4) }, () => shapeOf(random, depth - 1));
  if (random() < 0.4) return items;
  return Object.fromEntries(items.map((item) => [oneOf(random, keys), item]));
}

/** Front matter in one of the notations, and what it says; `undefined` where a mutation may have made anything of it. */
function frontMatterOf(random: Random): { text: string; said: unknown } {
  const shape = Object.fromEntries(
    Array.from({ length: 1 + below(random, 4) }, () => [oneOf(random, keys), shapeOf(random, 3)]),
  );
  const notations = [
    () => `---\n${dump(shape)}---\n`,
    () => `---\n${JSON.stringify(shape)}\n---\n`,
    () => `${JSON.stringify(shape, null, 2)}\n`,
    () =>
      `+++\n${Object.entries(shape)
        .map(([key, value]) => `${JSON.stringify(key)} = ${JSON.stringify(value)}`)
        .join("\n")}\n+++\n`,
  ];
  const notation = below(random, notations.length);
  const text = notations[notation]!();
  // JSON's null and mappings are not TOML's.
  if (random() < 0.4 && notation < 3) return { text, said: shape };
  // A file with controls in it is no text, and passed over.
  const other = Buffer.from(mutated(Buffer.from(text), random))
    .toString()
    .replace(/\p{Cc}+/gu, "\n");
  return { text: other.slice(0, 100_000), said: undefined };
}

const documentsAtOnce = 20;

/** Indexes documents with made front matter, edits and indexes them again, until the time is up; returns how many. */
export async function fuzzFrontMatter({ seed, seconds, onFinding }: Omit<Fuzzing, "project">): Promise<number> {
  const end = performance.now() + 1000 * seconds;
  let count = 0;
  for (; performance.now() < end; count += documentsAtOnce) {
    const folder = await mkdtemp(join(tmpdir(), "citewell-fuzz-"));
    const random = seededRandom(seed + count);
    const made = Array.from({ length: documentsAtOnce }, () => frontMatterOf(random));
    const pathOf = (number: number) => join(folder, `${number}.md`);
    for (const [number, { text }] of made.entries())
      await writeFile(pathOf(number), `${text}\nDocument ${number} says words.\n`);
    const kb = await openKnowledgeBase({ path: join(folder, ".store") });
    let isRight = true;
    const found = (what: string) => {
      isRight = false;
      onFinding(`front matter, seed ${seed + count}: ${what}\n  files: ${folder}`);
    };
    try {
      const source = readFolder(folder);
      const first = await kb.ingest(source);
      if (first.documents.added !== documentsAtOnce) found(`the first run gave ${JSON.stringify(first.documents)}`);
      for (const { uri } of await kb.store.documents()) {
        const number = Number(/(\d+)\.md$/.exec(uri)![1]);
        const document = await kb.store.document(uri);
        const { said } = made[number]!;
        const text = (await readFile(pathOf(number), "utf8")).replace(/^\u{feff}/u, "");
        if (document?.text !== text) found(`${uri} has another text than its file`);
        if (said !== undefined && !isDeepStrictEqual(document?.metadata, JSON.parse(JSON.stringify(said))))
          found(`${uri} has ${JSON.stringify(document?.metadata)} and not ${JSON.stringify(said)}`);
      }
      const edited = below(random, documentsAtOnce);
      await writeFile(pathOf(edited), `---\nedited: true\n---\nDocument ${edited} says other words.\n`);
      const { documents } = await kb.ingest(source);
      if (documents.updated !== 1 || documents.unchanged !== documentsAtOnce - 1)
        found(`the second run gave ${JSON.stringify(documents)}`);
    } catch (thrown) {
      found(`a run stopped: ${(thrown as Error).stack}`);
    } finally {
      await kb.close();
    }
    if (isRight) await rm(folder, { recursive: true });
  }
  return count;
}
