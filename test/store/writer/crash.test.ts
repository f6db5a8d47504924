// In test:all alone: it kills processes, for 18 s.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open-store.js";
import { madeVector } from "../../../src/conformance/made-documents.js";
import { seededRandom } from "../../support/seeded-random.js";
import { temporaryFolder } from "../temporary-folder.js";

const dist = new URL("../../../dist/", import.meta.url).href;

/** Runs `body` in a process of its own; `put(store, from, to)` writes documents `from` to `to`, two chunks each. */
function child(path: string, dimension: number, body: string): ChildProcess {
  const script = `
    import { openStore } from ${JSON.stringify(`${dist}store/open-store.js`)};
    import { vectorKey } from ${JSON.stringify(`${dist}text/chunking/chunk-identity.js`)};
    const open = () => openStore(${JSON.stringify(path)}, { space: "made" }, { index: "hnsw" });
    const put = (store, from, to) => {
      const vectors = new Map();
      const documents = [];
      for (let n = from; n < to; n++) {
        const parts = ["common left" + n + " ", "common right" + n];
        const chunks = parts.map((text, i) => ({
          id: n + "-" + i, documentId: "d" + n, text, context: "", tokens: 1,
          start: i * parts[0].length, end: i * parts[0].length + text.length,
        }));
        for (const chunk of chunks) {
          const vector = Float32Array.from({ length: ${dimension} }, () => Math.random() - 0.5);
          vectors.set(vectorKey(chunk), vector);
        }
        documents.push({ document: { uri: "d" + n, text: parts.join("") }, chunks });
      }
      return store.write({ vectors, documents });
    };
    ${body}
  `;
  const started = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: fileURLToPath(dist),
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void started.kill("SIGKILL"));
  return started;
}

interface WriterLine {
  readonly opened?: number;
  readonly acknowledged?: number;
  readonly broken?: unknown;
  readonly contents?: object;
}

/** The lines that an interrupted writer printed until it ended; `onLine` may end it. */
async function runWriter(
  settings: object,
  onLine: (line: WriterLine, writer: ChildProcess) => void = () => {},
  onStart: (writer: ChildProcess) => void = () => {},
): Promise<WriterLine[]> {
  const program = fileURLToPath(new URL("interrupted-writer.mjs", import.meta.url));
  const writer = spawn(process.execPath, [program, JSON.stringify(settings)], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void writer.kill("SIGKILL"));
  onStart(writer);
  const said: WriterLine[] = [];
  const lines = createInterface({ input: writer.stdout });
  lines.on("line", (line) => {
    // The last line of a writer that was killed may be torn.
    if (!line.endsWith("}")) return;
    said.push(JSON.parse(line) as WriterLine);
    onLine(said.at(-1)!, writer);
  });
  await Promise.all([once(writer, "close"), once(lines, "close")]);
  return said;
}

test("killed 15 times at random moments, a store ends up as an uninterrupted run leaves it", async () => {
  const path = join(temporaryFolder(), "store");
  const next = seededRandom(20);
  let acknowledged = 0;
  for (let kill = 0; kill < 15; kill++) {
    // Counted in printed lines, so that kills hit all phases of its work however slow the machine is.
    let linesToCome = Math.floor(next() * 5);
    const afterMs = next() * (linesToCome === 0 ? 200 : 40);
    const killLater = (writer: ChildProcess) => void setTimeout(() => writer.kill("SIGKILL"), afterMs);
    const said = await runWriter(
      { path, acknowledged },
      (_, writer) => {
        if (--linesToCome === 0) killLater(writer);
      },
      (writer) => {
        if (linesToCome === 0) killLater(writer);
      },
    );
    expect(said.filter(({ broken }) => broken)).toEqual([]);
    acknowledged = Math.max(acknowledged, ...said.map((line) => line.opened ?? line.acknowledged ?? 0));
  }
  expect(acknowledged).toBeGreaterThan(8);
  const until = acknowledged + 2;
  const interrupted = await runWriter({ path, acknowledged, until });
  const uninterrupted = await runWriter({ path: join(temporaryFolder(), "store"), until });
  for (const said of [interrupted, uninterrupted]) expect(said.filter(({ broken }) => broken)).toEqual([]);
  expect(interrupted.at(-1)?.contents).toBeDefined();
  // A cosine is a sum of 32-bit floats, which the graph, the kernel and the plain loop add in different orders: the results
  // for 24 terms of at most 1 differ by up to 24 * 2^-24 = 1.4e-6, and which of the three computes a score depends on how
  // far the graph was built. Scores of words are computed in one way only.
  const { rankings, ...rest } = uninterrupted.at(-1)!.contents as { rankings: [string, number][][] };
  const [dense, lexical] = rankings;
  const close = dense!.map(([id, score]) => [id, expect.closeTo(score, 5)]);
  expect(interrupted.at(-1)).toEqual({ contents: { ...rest, rankings: [close, lexical] } });
}, 120_000);

test("the lock of a killed writer is free again", async () => {
  const path = join(temporaryFolder(), "store");
  const writer = child(
    path,
    8,
    `const store = await open(); await put(store, 0, 1); await store.claim(); console.log("held"); setInterval(() => {}, 1000);`,
  );
  await once(createInterface({ input: writer.stdout! }), "line");
  const store = await openStore(path, { space: "made" });
  onTestFinished(() => store.close());
  await expect(store.deleteDocuments(["d0"])).rejects.toMatchObject({
    code: "locked",
    message: expect.stringContaining(`Process ${writer.pid}`),
  });
  writer.kill("SIGKILL");
  await once(writer, "close");
  expect(await store.deleteDocuments(["d0"])).toEqual({ documents: 1, chunks: 2 });
});

test.each([
  ["calls process.exit", "process.exit(0);"],
  ["has nothing left to do", ""],
])(
  "a process that %s while the graph is built ends with 0, and the rest is built at the next opening",
  async (_, end) => {
    const path = join(temporaryFolder(), "store");
    const builder = child(path, 512, `const store = await open(); await put(store, 0, 1500); ${end}`);
    expect(await once(builder, "close")).toEqual([0, null]);
    const store = await openStore(path, { space: "made" }, { index: "hnsw" });
    onTestFinished(() => store.close());
    const found = await store.dense.retrieve({ text: "", vector: madeVector("x", 512) }, { count: 3000 });
    expect(new Set(found.map(({ chunkId }) => chunkId)).size).toBe(3000);
  },
);
