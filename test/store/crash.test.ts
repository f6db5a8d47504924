import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { vectorKey } from "../../src/text/chunk-identity.js";
import { madeVector, mulberry } from "./made-documents.js";
import { temporaryFolder } from "./temporary-folder.js";

const dist = new URL("../../dist/", import.meta.url).href;

/** A process of its own that runs `body`; `put(from, to)` writes documents `from` up to `to`, two chunks each. */
function child(path: string, dimension: number, body: string): ChildProcess {
  const script = `
    import { openStore } from ${JSON.stringify(`${dist}store/open-store.js`)};
    import { vectorKey } from ${JSON.stringify(`${dist}text/chunk-identity.js`)};
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

test("killed at any moment of writing, building and saving, the store holds all that was acknowledged, whole and found", async () => {
  const path = join(temporaryFolder(), "store");
  const next = mulberry(20);
  let written = 0;
  for (let round = 0; round < 8; round++) {
    const writer = child(
      path,
      32,
      `for (let n = ${written}; ; ) {
        const store = await open();
        for (let batch = 0; batch < 4; batch++, n += 5) {
          await put(store, n, n + 5);
          console.log(n + 5);
        }
        await store.close();
      }`,
    );
    const lines = createInterface({ input: writer.stdout! });
    lines.on("line", (line) => {
      written = Number(line);
    });
    await once(lines, "line");
    await new Promise((resolve) => setTimeout(resolve, next() * 250));
    writer.kill("SIGKILL");
    await once(writer, "close");

    const warnings: string[] = [];
    const options = { index: "hnsw", onWarning: (message: string) => warnings.push(message) } as const;
    const store = await openStore(path, { space: "made" }, options);
    const { documents, chunks, vectors } = await store.counts();
    expect(documents).toBeGreaterThanOrEqual(written);
    expect(documents % 5).toBe(0);
    expect([chunks, vectors]).toEqual([documents * 2, documents * 2]);
    const everything = { count: chunks + 10 };
    const dense = await store.dense.retrieve({ text: "", vector: madeVector("x", 32) }, everything);
    const lexical = await store.lexical.retrieve({ text: "common" }, everything);
    for (const found of [dense, lexical]) expect(new Set(found.map(({ chunkId }) => chunkId)).size).toBe(chunks);
    const hits = await store.hits(dense);
    const known = await store.knownVectors(hits.map(({ chunk }) => vectorKey(chunk)));
    expect(known.size).toBe(chunks);
    await store.close();
    expect(warnings).toEqual([]);
    written = documents;
  }
}, 120_000);

test("the lock of a writer that was killed is free again", async () => {
  const path = join(temporaryFolder(), "store");
  const writer = child(
    path,
    8,
    `const store = await open(); await put(store, 0, 1); console.log("held"); setInterval(() => {}, 1000);`,
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
