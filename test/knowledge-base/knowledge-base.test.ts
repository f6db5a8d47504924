import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { OptionsError, TransportError } from "../../src/core/errors.js";
import type { KnowledgeBase, KnowledgeBaseOptions } from "../../src/knowledge-base/options.js";
import type { AskOptions, SearchPassagesOptions } from "../../src/knowledge-base/question-options.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { readFolder } from "../../src/load/sources/read-folder.js";
import { startLocalService } from "../../src/local/service.js";
import { collect } from "../../src/core/stream.js";
import { createTransport } from "../../src/transport/transport.js";
import type { Answer, Document } from "../../src/core/types.js";
import type { RecordedRequest, ScriptedReply } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { streamed, transportFor } from "../support/transport-for.js";

const handbook = fileURLToPath(new URL("../fixtures/handbook", import.meta.url));
const models = { embedding: "test/embed-m3", rerank: "test/rerank", chat: "test/chat" };

/** The texts of an embeddings request, or the documents of a rerank request. */
const textsOf = ({ body }: RecordedRequest) => {
  const { input = [], documents = [] } = body as { input?: string[]; documents?: string[] };
  return [...input, ...documents];
};

/** A service whose vectors count letters, and that refuses texts with POISON in them. */
function service(request: RecordedRequest): ScriptedReply {
  const texts = textsOf(request);
  if (texts.some((text) => text.includes("POISON"))) {
    return { status: 400, json: { code: 20015, message: "the input cannot be processed", data: null } };
  }
  if (request.path.endsWith("/rerank")) {
    return { json: { results: texts.map((_, index) => ({ index, relevance_score: 1 - index / 100 })) } };
  }
  if (request.path.endsWith("/chat/completions")) return streamed("Keys expire after 90 days [1].");
  const embedding = (text: string) => Array.from({ length: 8 }, (_, at) => 1 + (text.charCodeAt(at % text.length) % 7));
  const data = texts.map((text, index) => ({ index, embedding: embedding(text) }));
  return { json: { data, usage: { prompt_tokens: texts.length } } };
}

async function openWith(script: (request: RecordedRequest) => ScriptedReply, path?: string) {
  const { transport, upstream } = await transportFor(script, { maxRetries: 0 });
  const kb = await openKnowledgeBase({ path: path ?? join(await temporaryFolder(), "store"), transport, models });
  onTestFinished(() => kb.close());
  return { kb, upstream };
}

const notes = (...texts: string[]): Document[] => texts.map((text, index) => ({ uri: `note:${index}`, text }));

describe("ingest", () => {
  test("a refused text fails its own document, affects no other, and is tried again", async () => {
    const { kb, upstream } = await openWith(service);
    const documents = notes("Keys expire.", "POISON", "Locks rust.", "Doors creak.");
    const report = await kb.ingest(documents);
    expect(report.documents).toEqual({ added: 3, updated: 0, unchanged: 0, deleted: 0, failed: 1 });
    expect(report.failures).toMatchObject([{ uri: "note:1", error: expect.any(TransportError) }]);
    // All four, then halves: two refused, two accepted, then each of the refused half alone.
    expect(report.requests).toBe(5);

    const sentBefore = upstream.requests.length;
    const again = await kb.ingest(documents);
    expect(again.documents).toEqual({ added: 0, updated: 0, unchanged: 3, deleted: 0, failed: 1 });
    expect(upstream.requests.slice(sentBefore).map(textsOf)).toEqual([["POISON"]]);
  });

  test("an aborted run throws the caller's reason, keeps what was paid for and deletes nothing", async () => {
    const folder = await temporaryFolder();
    await cp(handbook, join(folder, "docs"), { recursive: true });
    const { kb, upstream } = await openWith(service);
    await kb.ingest(readFolder(join(folder, "docs")));
    await rm(join(folder, "docs/leave.md"));
    await writeFile(join(folder, "docs/new.md"), "# New\n\nA new page.\n");

    const stopping = new AbortController();
    const reason = new Error("that is enough");
    const onProgress = ({ documentsRead }: { documentsRead: number }) => {
      if (documentsRead > 0) stopping.abort(reason);
    };
    const stopped = kb.ingest(readFolder(join(folder, "docs")), { signal: stopping.signal, onProgress });
    await expect(stopped).rejects.toBe(reason);
    expect((await kb.store.documents()).map(({ uri }) => uri)).toContainEqual(expect.stringMatching(/leave\.md$/));

    const { documents } = await kb.ingest(readFolder(join(folder, "docs")));
    expect(documents).toMatchObject({ deleted: 1, failed: 0 });
    const sent = upstream.requests.flatMap(textsOf);
    expect(new Set(sent).size).toBe(sent.length);
  });

  test("a source that yields nothing more does not delay an abort or a deadline", async () => {
    const { kb } = await openWith(service);
    async function* source(): AsyncGenerator<Document> {
      for (let number = 0; number < 40; number++) yield { uri: `note:${number}`, text: `Note ${number}.` };
      await new Promise(() => {});
    }
    const stopping = new AbortController();
    const reason = new Error("that is enough");
    const onProgress = ({ chunksEmbedded }: { chunksEmbedded: number }) => {
      if (chunksEmbedded > 0) stopping.abort(reason);
    };
    await expect(kb.ingest(source(), { signal: stopping.signal, onProgress })).rejects.toBe(reason);
    await expect(kb.ingest(source(), { deadlineMs: 200 })).rejects.toMatchObject({ code: "timeout" });
  });

  test("a source read through globs deletes only what is gone from the disk", async () => {
    const folder = await temporaryFolder();
    await cp(handbook, join(folder, "docs"), { recursive: true });
    const { kb } = await openWith(service);
    await kb.ingest(readFolder(join(folder, "docs")));
    await rm(join(folder, "docs/leave.md"));
    const { documents } = await kb.ingest(readFolder(join(folder, "docs"), { include: ["laptops.md"] }));
    expect(documents).toEqual({ added: 0, updated: 0, unchanged: 1, deleted: 1, failed: 0 });
    expect((await kb.store.counts()).documents).toBe(2);
  });

  test("documents of a plain list never count as vanished", async () => {
    const { kb } = await openWith(service);
    await kb.ingest(notes("One.", "Two."));
    expect((await kb.ingest(notes("One."))).documents).toMatchObject({ unchanged: 1, deleted: 0 });
    expect((await kb.store.counts()).documents).toBe(2);
  });

  test("a document that became blank stays stored and loses its chunks", async () => {
    const { kb } = await openWith(service);
    await kb.ingest(notes("Something."));
    const blank = await kb.ingest(notes(" \n"));
    expect(blank.documents.updated).toBe(1);
    expect(blank.chunks).toMatchObject({ total: 0, deleted: 1 });
    expect((await kb.ingest(notes(" \n"))).documents.unchanged).toBe(1);
  });
});

describe("search", () => {
  // The vector, made of leading letters, matches the second note; the words match the first.
  const question = "doorkeep expire";
  const documents = notes("When do things expire?", "doorkeephole");

  /** The score of each hit, and the expected one from its ranks: the sum of weight / (10 + rank). */
  async function scores(kb: KnowledgeBase, weights: Readonly<Record<string, number>>) {
    const { hits } = await kb.search(question, { fusion: { method: "rrf" } });
    return hits.map(({ uri, score, placements }) => {
      const ranks = placements.filter(({ by }) => by in weights);
      return { uri, score, due: ranks.reduce((sum, { by, rank }) => sum + weights[by]! / (10 + rank), 0) };
    });
  }

  test.each([
    ["vectors alone", { dense: 1, lexical: 0 }, "note:1"],
    ["words alone", { dense: 0, lexical: 1 }, "note:0"],
    ["both, as the weights say", { dense: 3, lexical: 0.1 }, "note:1"],
  ])("weights let a hybrid search follow %s", async (_, weights, first) => {
    const { transport } = await transportFor(service);
    const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store"), transport, models, weights });
    onTestFinished(() => kb.close());
    await kb.ingest(documents);
    const found = await scores(kb, weights);
    expect(found[0]!.uri).toBe(first);
    for (const { score, due } of found) expect(score).toBeCloseTo(due, 10);
  });

  test("a knowledge base that was opened with a weight of closeness searches in every mode and by ranks, too", async () => {
    const { transport } = await transportFor(service);
    const weights = { dense: 1, lexical: 1, closeness: 5 };
    const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store"), transport, models, weights });
    onTestFinished(() => kb.close());
    await kb.ingest(documents);
    const steps = async (options: SearchPassagesOptions) =>
      (await kb.search(question, options)).hits[0]!.placements.map(({ by }) => by);
    expect(await steps({ fusion: { method: "score" } })).toContain("fused");
    for (const options of [
      { mode: "dense" },
      { mode: "lexical" },
      { fusion: { k: 5 } },
      { fusion: { method: "rrf" } },
    ] as const) {
      expect(await steps(options)).not.toContain("closeness");
    }
  });

  test("vectors and words weigh the same with a service's model", async () => {
    const { kb } = await openWith(service);
    await kb.ingest(documents);
    const found = await scores(kb, { dense: 1, lexical: 1 });
    expect(found).toHaveLength(2);
    for (const { score, due } of found) expect(score).toBeCloseTo(due, 10);
  });

  test("a model of the texts themselves stands beside lexical vectors alone, unless told otherwise", async () => {
    const has = async (options: KnowledgeBaseOptions) => {
      const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store"), ...options });
      onTestFinished(() => kb.close());
      return kb.store.latent !== undefined;
    };
    const { transport } = await transportFor(service);
    expect(await has({})).toBe(true);
    expect(await has({ latent: false })).toBe(false);
    expect(await has({ transport, models })).toBe(false);
    expect(await has({ transport, models, latent: "auto" })).toBe(true);
    const { kb } = await openWith(service);
    await expect(openKnowledgeBase({ store: kb.store, latent: true })).rejects.toThrow(/openStore\(\)/);
  });

  test("lexical vectors weigh little, in this process or over a transport", async () => {
    const inProcess = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
    onTestFinished(() => inProcess.close());
    const local = await startLocalService();
    onTestFinished(() => local.close());
    const transport = createTransport({ baseUrl: local.url, apiKey: local.apiKey });
    onTestFinished(() => transport.close());
    const overTransport = await openKnowledgeBase({
      path: join(await temporaryFolder(), "store"),
      transport,
      models: { embedding: "citewell/local-lexical-m3" },
    });
    onTestFinished(() => overTransport.close());
    for (const kb of [inProcess, overTransport]) {
      await kb.ingest(documents);
      const found = await scores(kb, { dense: 0.1, lexical: 1 });
      expect(found).toHaveLength(2);
      for (const { score, due } of found) expect(score).toBeCloseTo(due, 10);
    }
  });

  test("reranks the requested number of passages and keeps the limit if a reranker is named", async () => {
    const backwards = (request: RecordedRequest): ScriptedReply => {
      const results = textsOf(request).map((_, index) => ({ index, relevance_score: index / 100 }));
      return request.path.endsWith("/rerank") ? { json: { results: results.toReversed() } } : service(request);
    };
    const { kb, upstream } = await openWith(backwards);
    await kb.ingest(notes("Keys rust.", "Keys rust slowly.", "Keys rust very slowly.", "Keys hardly ever rust."));
    const plain = await kb.search("keys rust", { mode: "lexical" });
    const { hits } = await kb.search("keys rust", { mode: "lexical", count: 3, topN: 2 });
    await expect(kb.search("keys rust", { count: 3, topN: 7 })).rejects.toThrow(
      "search: topN is 7, but count, which they are chosen from, is 3. Set topN to 3 or less, or count to 7 or more",
    );
    expect(hits.map(({ uri }) => uri)).toEqual([plain.hits[2]!.uri, plain.hits[1]!.uri]);
    expect(textsOf(upstream.requests.at(-1)!)).toHaveLength(3);

    const { transport } = await transportFor(service);
    const path = join(await temporaryFolder(), "store");
    const without = await openKnowledgeBase({ path, transport, models: { embedding: models.embedding } });
    onTestFinished(() => without.close());
    await expect(without.search("keys", { topN: 3 })).rejects.toThrow(/No rerank model.*models\.rerank/);
  });
});

describe("ask", () => {
  test("goes from question to checked citation through all three operations", async () => {
    const { kb, upstream } = await openWith(service);
    await kb.ingest(notes("Keys expire after 90 days.", "Locks rust."));
    const events = await collect(kb.ask("When do keys expire?"));
    expect(events.at(-1)).toMatchObject({
      type: "finish",
      answer: { text: "Keys expire after 90 days [1].", answered: true },
    });
    expect(events.find(({ type }) => type === "citation")).toMatchObject({
      citation: { number: 1, uri: "note:0", quote: "Keys expire after 90 days", supported: true },
    });
    const paths = upstream.requests.map(({ path }) => path.split("/").at(-1));
    expect(paths).toEqual(["embeddings", "embeddings", "rerank", "completions"]);
  });

  test("asks the chat model with the options it was opened with", async () => {
    const { transport, upstream } = await transportFor(service);
    const path = join(await temporaryFolder(), "store");
    const chat = { temperature: 0.25, thinking: false };
    const kb = await openKnowledgeBase({ path, transport, models, chat });
    onTestFinished(() => kb.close());
    await kb.ingest(notes("Keys expire after 90 days."));
    await collect(kb.ask("When do keys expire?"));
    expect(upstream.requests.at(-1)?.body).toMatchObject({ temperature: 0.25, reasoning_effort: "none" });
  });

  test("keeps the order of the search if the reranker is down, and the trace says so", async () => {
    const { kb } = await openWith((request) => (request.path.endsWith("/rerank") ? { status: 503 } : service(request)));
    await kb.ingest(notes("Keys expire after 90 days."));
    const last = (await collect(kb.ask("When do keys expire?"))).at(-1);
    expect(last).toMatchObject({ type: "finish", answer: { answered: true } });
    expect(JSON.stringify(last)).toMatch(/the order of the search was kept/);
  });

  test.each([
    ["the embeddings", "/embeddings"],
    ["the answers", "/chat/completions"],
  ])("ends with one error event when %s fail", async (_, path) => {
    let down = false;
    const { kb } = await openWith((request) =>
      down && request.path.endsWith(path) ? { status: 500 } : service(request),
    );
    await kb.ingest(notes("Keys expire after 90 days."));
    down = true;
    const events = await collect(kb.ask("When do keys expire?"));
    const ends = events.filter(({ type }) => type === "finish" || type === "error");
    expect(ends).toMatchObject([{ type: "error", error: { code: "upstream", status: 500 } }]);
    expect(events.at(-1)).toBe(ends[0]);
  });
});

describe("opening", () => {
  test("your own service needs model names, and the message says which and how", async () => {
    const { transport } = await transportFor(service);
    const opening = openKnowledgeBase({ path: join(await temporaryFolder(), "store"), transport });
    await expect(opening).rejects.toThrow(OptionsError);
    await expect(opening).rejects.toThrow(/No embedding model.*CITEWELL_EMBEDDING_MODEL/);
  });

  test("an unknown option is refused where it is written", async () => {
    await expect(openKnowledgeBase({ pth: "x" } as never)).rejects.toThrow(/openKnowledgeBase: .*"pth"/);
  });

  test.each([
    [{ chunk: { maxToken: 99 } }, 'there is no option "chunk.maxToken"; did you mean "maxTokens"?'],
    [{ chunk: { for: {} } }, 'there is no option "chunk.for"; there are: maxTokens, overlapTokens, parentTokens, '],
    [{ chunk: { maxTokens: 3 } }, "chunk.maxTokens: Too small: expected number to be >=16 (got 3)"],
    [{ chat: { maxOutputToken: 99 } }, 'there is no option "chat.maxOutputToken"; did you mean "maxOutputTokens"?'],
    [{ models: { embeding: "m" } }, 'there is no option "models.embeding"; did you mean "embedding"?'],
    [{ weights: { dense: 1, lexical: 1, lexicl: 1 } }, 'there is no option "weights.lexicl"; did you mean "lexical"?'],
  ])("refuses %j before anything is opened, and says what was meant", async (options, message) => {
    const opening = openKnowledgeBase({ path: await temporaryFolder(), ...options } as KnowledgeBaseOptions);
    const thrown: unknown = await opening.then(
      (kb) => kb.close(),
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(OptionsError);
    expect((thrown as OptionsError).message).toContain(`openKnowledgeBase: ${message}`);
  });

  test("without a service it runs on the local one, and after closing nothing keeps the process alive", async () => {
    const kb: KnowledgeBase = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
    await kb.ingest(notes("Keys expire after 90 days."));
    const { hits } = await kb.search("expiry of keys", { count: 1, correct: false });
    expect(hits).toMatchObject([{ uri: "note:0", placements: [{ by: "dense" }, { by: "lexical" }, { by: "fused" }] }]);
    await kb.close();
    await expect(kb.search("anything")).rejects.toThrow(/closed/i);
  });
});

describe("with the local service, a knowledge base", () => {
  async function filled() {
    const kb = await openKnowledgeBase({ path: await temporaryFolder() });
    onTestFinished(() => kb.close());
    await kb.ingest([
      { uri: "batch", text: "The batch processor sends spans in groups. Its default queue size is 2048 spans." },
      { uri: "keys", text: "An API key lasts 90 days by default. Then it is renewed." },
      { uri: "logs", text: "Logs are kept for a week by default. Then they are deleted." },
    ]);
    return kb;
  }

  test.each([
    [{ count: 0 }, "search: count: Too small: expected number to be >=1 (got 0)"],
    [{ fusion: { kk: 3 } }, 'search: there is no option "fusion.kk"; there are: method, k, weights'],
    [{ fusion: { weights: { dense: 1, lexical: 1, words: 1 } } }, 'search: there is no option "fusion.weights.words"'],
    [
      { fusion: { k: 5, weights: { dense: 1, lexical: 1, closeness: 2 } } },
      "search: fusion.weights.closeness is 2, but only",
    ],
    [{ topN: true }, "search: topN: "],
    [{ widenTokens: 3 }, "search: widenTokens: "],
  ])("refuses a search with %j, and says what was meant", async (options, message) => {
    const kb = await filled();
    const searching = kb.search("key", options as SearchPassagesOptions);
    await expect(searching).rejects.toThrow(OptionsError);
    await expect(searching).rejects.toThrow(message);
  });

  test.each([
    [{ answer: { temprature: 1 } }, 'ask: there is no option "answer.temprature"; did you mean "temperature"?'],
    [{ answer: { maxRounds: 65 } }, "ask: answer.maxRounds: "],
    [{ condense: "yes" }, "ask: condense: "],
  ])("refuses a question with %j, and says what was meant", async (options, message) => {
    const kb = await filled();
    const ask = () => kb.ask("How long does a key last?", options as AskOptions);
    expect(ask).toThrow(OptionsError);
    expect(ask).toThrow(message);
  });

  test("keeps settings of chunks that are not given as they were when the store was filled", async () => {
    const path = await temporaryFolder();
    const first = await openKnowledgeBase({ path, chunk: { maxTokens: 64, overlapTokens: 0 } });
    await first.ingest([{ uri: "a", text: "Keys expire." }]);
    await first.close();
    const second = await openKnowledgeBase({ path, chunk: { parentTokens: 0 } });
    onTestFinished(() => second.close());
    await second.ingest([{ uri: "b", text: "Logs are kept." }]);
    expect(second.store.settings).toMatchObject({ chunk: { maxTokens: 64, overlapTokens: 0, parentTokens: 0 } });
  });

  test("answers a follow-up in the context of earlier questions, and stores the words that were typed", async () => {
    const kb = await filled();
    const history = [
      { role: "user", text: "How does the batch processor send spans?" },
      { role: "assistant", text: "In groups." },
    ] as const;
    const question = "What is its default queue size?";
    const last = (await collect(kb.ask({ question, history }))).at(-1);
    expect(last).toMatchObject({
      type: "finish",
      answer: { question, answered: true },
    });
    const { trace, usage, hits, citations } = (last as { answer: Answer }).answer;
    expect(new Set(citations.map(({ uri }) => uri))).toEqual(new Set(["batch"]));
    expect(hits[0]!.uri).toBe("batch");
    expect(trace[0]).toMatchObject({ step: "condense", note: expect.stringContaining("batch processor") });
    const alone = (await collect(kb.ask({ question, history }, { condense: false }))).at(-1) as { answer: Answer };
    expect(alone.answer.trace[0]!.step).toBe("search hybrid");
    expect(usage?.inputTokens).toBeGreaterThan(0);
  });

  test("reads search syntax unless told not to, and rewrites questions on request", async () => {
    const kb = await filled();
    const uris = async (...call: Parameters<typeof kb.search>) => (await kb.search(...call)).hits.map(({ uri }) => uri);
    expect(await uris('default -"api key" -logs')).toEqual(["batch"]);
    expect((await uris('default -"api key" -logs', { syntax: false })).toSorted()).toEqual(["batch", "keys", "logs"]);
    const asked = await kb.search("default key", {
      multiQuery: 2,
      hyde: true,
      diversity: 0.5,
      widenTokens: 100,
      count: 2,
    });
    expect(asked.hits[0]!.uri).toBe("keys");
    expect(asked.trace.map(({ step }) => step)).toEqual(["multi-query", "hyde", "search hybrid", "diversify", "widen"]);
  });
});
