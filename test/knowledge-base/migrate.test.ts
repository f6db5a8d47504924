import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { KnowledgeBase, KnowledgeBaseOptions } from "../../src/knowledge-base/options.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { migrateKnowledgeBase, type MigrateOptions } from "../../src/knowledge-base/migrate.js";
import { migrateBack } from "../../src/store/migrate-back.js";
import { beginMigration } from "../../src/store/migration.js";
import type { Transport } from "../../src/transport/transport.js";
import type { Document } from "../../src/core/types.js";
import { embeddingReply, textsOf } from "../support/embedding-service.js";
import type { RecordedRequest, ScriptedReply } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { transportFor } from "../support/transport-for.js";

const documents: Document[] = Array.from({ length: 30 }, (_, number) => ({
  uri: `note:${number}`,
  title: `Note ${number}`,
  text: [0, 1, 2, 3]
    .map((at) => `Topic ${number}.${at} is told here. ${"More words follow. ".repeat(20)}`)
    .join("\n\n"),
  metadata: { number },
  anchors: [{ start: 0, page: 3 }],
  mediaType: "text/markdown",
}));
const chunk = { maxTokens: 128, overlapTokens: 0 };

interface Setting {
  readonly path: string;
  readonly transport: Transport;
  /** Requests for embeddings so far. */
  readonly requests: readonly RecordedRequest[];
  readonly open: (model: string, more?: Partial<KnowledgeBaseOptions>) => Promise<KnowledgeBase>;
  readonly migrate: (
    model: string,
    more?: Partial<KnowledgeBaseOptions>,
    run?: MigrateOptions,
  ) => ReturnType<typeof migrateKnowledgeBase>;
}

async function setting(script: (request: RecordedRequest) => ScriptedReply = embeddingReply): Promise<Setting> {
  const { transport, upstream } = await transportFor(script, { maxRetries: 0 });
  const path = join(await temporaryFolder(), "store");
  const options = (model: string, more: Partial<KnowledgeBaseOptions> = {}) => ({
    path,
    transport,
    models: { embedding: model },
    chunk,
    ...more,
  });
  return {
    path,
    transport,
    requests: upstream.requests,
    open: async (model, more) => {
      const kb = await openKnowledgeBase(options(model, more));
      onTestFinished(() => kb.close());
      return kb;
    },
    migrate: (model, more, run) => migrateKnowledgeBase(options(model, more), run),
  };
}

/** A store with the documents in it, made with the model `old-m3`. */
async function filled(script?: Parameters<typeof setting>[0]): Promise<Setting> {
  const made = await setting(script);
  const kb = await made.open("old-m3");
  await kb.ingest(documents);
  await kb.close();
  return made;
}

const question = "topic told";

/** Everything that a reader can see. */
async function contents(kb: KnowledgeBase) {
  const infos = await kb.store.documents();
  const { hits } = await kb.search(question, { mode: "lexical", count: 1000 });
  return {
    counts: await kb.store.counts(),
    documents: await Promise.all(infos.map(({ uri }) => kb.store.document(uri))),
    chunks: hits
      .map(({ chunk: { id, start, end, text } }) => ({ id, start, end, text }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    dense: (await kb.search(question, { mode: "dense", count: 20 })).hits.map((hit) => hit.chunk.id),
  };
}

async function contentsOf({ open }: Setting, model: string, more?: Partial<KnowledgeBaseOptions>) {
  const kb = await open(model, more);
  const all = await contents(kb);
  await kb.close();
  return all;
}

/** The content of a store that was made with that model from the start. */
async function fresh(model: string, more: Partial<KnowledgeBaseOptions> = {}) {
  const made = await setting();
  const kb = await made.open(model, more);
  await kb.ingest(documents);
  return contents(kb);
}

describe("migrating to another model", () => {
  test("makes the store that the new model would have made of the same documents, without their files", async () => {
    const made = await filled();
    writeFileSync(join(made.path, "conversations.sqlite"), "what lies beside the store");
    const report = await made.migrate("new-m3");
    expect(report).toMatchObject({ from: "old-m3", to: "new-m3", switched: true, documents: { added: 30, failed: 0 } });
    expect(await contentsOf(made, "new-m3")).toEqual(await fresh("new-m3"));
    expect(existsSync(join(made.path, "conversations.sqlite"))).toBe(true);
    await expect(made.open("old-m3")).rejects.toMatchObject({ code: "space" });
  });

  test("is suggested when a store is opened with another model", async () => {
    const made = await filled();
    await expect(made.open("new-m3")).rejects.toMatchObject({
      code: "space",
      message: expect.stringContaining("citewell migrate --embedding-model new-m3"),
    });
  });

  test("leaves the old store serving until it is done, and refuses changes to it meanwhile", async () => {
    const made = await filled();
    const reader = await made.open("old-m3");
    const before = await contents(reader);
    const migration = await beginMigration(made.path, { space: "new-m3" });
    expect(await contentsOf(made, "old-m3")).toEqual(before);
    const { uri } = documents[0]!;
    await expect(reader.store.deleteDocuments([uri])).rejects.toMatchObject({ code: "locked" });
    const [document] = documents;
    await migration.target.write({ documents: [{ document: document!, chunks: [] }] });
    expect(await contentsOf(made, "old-m3")).toEqual(before);
    await migration.finish();
    // A reader that had it open can go on reading, and learns of the switch when it tries to write.
    expect(await contents(reader)).toEqual(before);
    await expect(reader.store.deleteDocuments([uri])).rejects.toMatchObject({
      code: "closed",
      message: expect.stringContaining("was migrated"),
    });
  });

  test("can be undone, and done again", async () => {
    const made = await filled();
    const [old, renewed] = [await contentsOf(made, "old-m3"), await fresh("new-m3")];
    await made.migrate("new-m3");
    migrateBack(made.path);
    expect(await contentsOf(made, "old-m3")).toEqual(old);
    migrateBack(made.path);
    expect(await contentsOf(made, "new-m3")).toEqual(renewed);
  });

  test("keeps one store to go back to, and deletes those before it", async () => {
    const made = await filled();
    await made.migrate("second-m3");
    await made.migrate("third-m3");
    expect(readdirSync(made.path).toSorted()).toEqual(["current.json", "generation-1", "generation-2"]);
    migrateBack(made.path);
    expect((await contentsOf(made, "second-m3")).counts.documents).toBe(30);
    await made.migrate("fourth-m3");
    expect(readdirSync(made.path).toSorted()).toEqual(["current.json", "generation-1", "generation-3"]);
  });

  test("stopped anywhere, it continues, pays for nothing twice, and the old store serves in between", async () => {
    const made = await filled();
    const before = await contentsOf(made, "old-m3");
    const alreadySent = made.requests.length;
    for (const afterRequests of [1, 2, 2]) {
      const stopping = new AbortController();
      const reason = new Error("enough");
      const run = made.migrate(
        "new-m3",
        { concurrency: 1 },
        {
          signal: stopping.signal,
          onProgress: ({ requests }) => {
            if (requests >= afterRequests) stopping.abort(reason);
          },
        },
      );
      await expect(run).rejects.toBe(reason);
      expect(await contentsOf(made, "old-m3")).toEqual(before);
    }
    expect((await made.migrate("new-m3")).switched).toBe(true);
    expect(await contentsOf(made, "new-m3")).toEqual(await fresh("new-m3"));
    const answered = [];
    for (const request of made.requests.slice(alreadySent)) {
      if ((await request.end) === "finished") answered.push(...textsOf(request));
    }
    const passages = answered.filter((text) => text !== question);
    expect(passages.length).toBeGreaterThan(60);
    expect(new Set(passages).size).toBe(passages.length);
  });

  test("started with another model than the last attempt, it starts from scratch", async () => {
    const made = await filled();
    const stopped = await made.migrate("new-m3", {}, { maxTokens: 2000 });
    expect(stopped).toMatchObject({ switched: false, stopped: { reason: expect.stringContaining("2,000 tokens") } });
    expect((await made.migrate("other-m3")).switched).toBe(true);
    expect(await contentsOf(made, "other-m3")).toEqual(await fresh("other-m3"));
  });

  test("applies deletions that happened between two attempts", async () => {
    const made = await filled();
    await made.migrate("new-m3", {}, { maxTokens: 4000 });
    const kb = await made.open("old-m3");
    await kb.store.deleteDocuments(documents.slice(0, 10).map(({ uri }) => uri));
    await kb.close();
    expect((await made.migrate("new-m3")).switched).toBe(true);
    expect((await contentsOf(made, "new-m3")).documents.map((document) => document!.metadata)).toEqual(
      expect.arrayContaining(documents.slice(10).map(({ metadata }) => metadata)),
    );
    expect((await contentsOf(made, "new-m3")).counts.documents).toBe(20);
  });

  test("loses no document: if one fails, the old store keeps serving, unless failures are accepted", async () => {
    const made = await filled((request) =>
      (request.body as { model: string }).model === "new-m3" &&
      textsOf(request).some((text) => text.includes("Topic 7.2"))
        ? { status: 400, json: { code: 20015, message: "the input cannot be processed", data: null } }
        : embeddingReply(request),
    );
    const refused = await made.migrate("new-m3");
    expect(refused).toMatchObject({ switched: false, documents: { failed: 1 }, failures: [{ uri: "note:7" }] });
    expect((await contentsOf(made, "old-m3")).counts.documents).toBe(30);
    expect((await made.migrate("new-m3", {}, { acceptFailures: true })).switched).toBe(true);
    expect((await contentsOf(made, "new-m3")).counts.documents).toBe(29);
  });
});

test("migrating to other chunks embeds only texts that are new", async () => {
  const made = await filled();
  const before = made.requests.length;
  const unchanged = await made.migrate("old-m3");
  expect(unchanged).toMatchObject({ switched: true, requests: 0, chunks: { embedded: 0 } });
  const more = { chunk: { maxTokens: 64, overlapTokens: 0 } };
  expect((await made.migrate("old-m3", more)).switched).toBe(true);
  expect(await contentsOf(made, "old-m3", more)).toEqual(await fresh("old-m3", more));
  const known = new Set(made.requests.slice(0, before).flatMap(textsOf));
  const sent = made.requests
    .slice(before)
    .flatMap(textsOf)
    .filter((text) => text.startsWith("Note"));
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.filter((text) => known.has(text))).toEqual([]);
});

test("an error names the folder that has no store, or no earlier one", async () => {
  const made = await setting();
  await expect(made.migrate("new-m3")).rejects.toMatchObject({ code: "missing" });
  const kb = await made.open("old-m3");
  await kb.ingest(documents.slice(0, 1));
  await kb.close();
  expect(() => migrateBack(made.path)).toThrow("it was not migrated");
});

test("a damaged pointer is refused with the way out, never guessed", async () => {
  const made = await filled();
  await made.migrate("new-m3");
  const pointer = join(made.path, "current.json");
  const written = readFileSync(pointer, "utf8");
  const refused = { code: "damaged", message: expect.stringContaining('{"format":1,"current":"NAME"}') };
  const wrong = [
    '{"format":1,"current":"../elsewhere"}',
    '{"format":1,"current":"generation-2"}',
    '{"format":1,"current":"generation-1","previus":"."}',
    written.replace("generation-1", "generation-2"),
    written.replace(/ {2}"previous".*\n/, ""),
    written.slice(0, -20),
    "",
  ];
  for (const text of wrong) {
    writeFileSync(pointer, text);
    await expect(made.open("new-m3")).rejects.toMatchObject(refused);
    await expect(made.migrate("old-m3")).rejects.toMatchObject(refused);
    expect(() => migrateBack(made.path)).toThrow(expect.objectContaining(refused));
  }
  rmSync(pointer);
  await expect(made.open("new-m3")).rejects.toMatchObject({
    code: "damaged",
    message: expect.stringMatching(/current\.json is missing.*with generation-1/),
  });
  expect(readdirSync(made.path)).not.toContain("generation-2");

  // Written by hand, as the message says.
  writeFileSync(pointer, '{"format":1,"current":"generation-1"}');
  expect((await contentsOf(made, "new-m3")).counts.documents).toBe(30);
});
