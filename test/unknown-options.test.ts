import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as citewell from "citewell";
import * as aiSdk from "citewell/ai-sdk";
import * as evaluating from "citewell/evaluate";
import * as langchain from "citewell/langchain";
import * as loading from "citewell/load";
import * as local from "citewell/local";
import * as mcp from "citewell/mcp";
import * as serving from "citewell/server";
import * as postgres from "citewell/postgres";
import * as conforming from "citewell/store-conformance";
import * as testing from "citewell/testing";
import * as transferring from "citewell/transfer";
import * as transports from "citewell/transport";
import * as videos from "citewell/video";
import type { KnowledgeBase, Store } from "citewell";
import { localDefaults } from "citewell/local";
import { publicCalls, withDeclarations } from "./support/public-declarations.js";
import { catVideo } from "./support/video-task.js";

const calls = withDeclarations(publicCalls);
const noDocuments = { search: () => Promise.resolve({ hits: [] }) };
const question = "who?";
const tesseractData = "node_modules/@tesseract.js-data/eng/4.0.0_best_int";

interface Opened {
  readonly kb: KnowledgeBase;
  readonly store: Store;
  readonly transport: transports.Transport;
  readonly embedder: citewell.Embedder;
  readonly chat: citewell.ChatModel;
  readonly reranker: citewell.Reranker;
  readonly folder: string;
}
let opened: Opened;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "citewell-test-"));
  await writeFile(join(folder, "a.txt"), "hello there");
  const service = await local.startLocalService();
  const transport = citewell.createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  const embedder = citewell.embedder(transport, { model: localDefaults.embedding });
  const store = await citewell.openStore(join(folder, "store"), embedder);
  const kb = await citewell.openKnowledgeBase({ path: join(folder, "kb"), transport, models: localDefaults });
  closing.push(
    () => kb.close(),
    () => store.close(),
    () => transport.close(),
    () => service.close(),
    () => rm(folder, { recursive: true }),
  );
  const chat = citewell.chatModel(transport, { model: localDefaults.chat });
  const reranker = citewell.reranker(transport, { model: localDefaults.rerank });
  opened = { kb, store, transport, embedder, chat, reranker, folder };
});
afterAll(async () => {
  for (const close of closing) await close();
});

const { collect } = citewell;

/** How each function is called with options that hold one unknown name; what else it needs is good. */
const acts: Readonly<Record<string, (options: never, opened: Opened) => unknown>> = {
  "Pipeline.stream": (options) => collect(citewell.Pipeline.from<string>().stream(["a"], options)),
  tool: (options) => citewell.tool(options),
  ingest: (options: object, { store, embedder }) => citewell.ingest([], { store, embedder, ...options }),
  "ingest OwnPipelineOptions": (options: object, { store }) =>
    citewell.ingest([], { store, pipeline: citewell.Pipeline.from<citewell.Document>(), ...options }),
  migrateKnowledgeBase: (options: object, { folder }) => citewell.migrateKnowledgeBase({ path: folder, ...options }),
  "migrateKnowledgeBase MigrateOptions": (options, { folder }) =>
    citewell.migrateKnowledgeBase({ path: folder }, options),
  openKnowledgeBase: (options) => citewell.openKnowledgeBase(options),
  enqueue: (options: object, { store, embedder }) => postgres.enqueue([], { store, embedder, ...options }),
  status: (options: object, { store }) => postgres.status({ store, ...options }),
  work: (options: object, { store, embedder }) => postgres.work({ store, embedder, ...options }),
  openPostgresStore: (options, { embedder }) => postgres.openPostgresStore("postgres://localhost/a", embedder, options),
  distributeStore: (options: object) => postgres.distributeStore("postgres://localhost/a", options),
  "Store.write": (options, { store }) => store.write(options),
  "Store.verify": (options, { store }) => store.verify(options),
  "Store.close": (options, { store }) => store.close(options),
  "Retriever.retrieve": (options: object, { store }) => store.lexical.retrieve({ text: "a" }, { count: 1, ...options }),
  "Store.similarWords": (options: object, { store }) => store.similarWords!("a", { count: 1, ...options }),
  "Store.document": (options, { store }) => store.document("a", options),
  "Store.documents": (options, { store }) => store.documents(options),
  "Store.hits": (options, { store }) => store.hits([], options),
  "Store.scoped": (options, { store }) => store.scoped(options),
  "Searchable.similarWords": (options: object, { store }) =>
    store.scoped({ uri: "a" }).similarWords!("a", { count: 1, ...options }),
  "Searchable.document": (options, { store }) => store.scoped({ uri: "a" }).document("a", options),
  "Searchable.documents": (options, { store }) => store.scoped({ uri: "a" }).documents(options),
  "Searchable.hits": (options, { store }) => store.scoped({ uri: "a" }).hits([], options),
  "Searchable.scoped": (options, { store }) => store.scoped({ uri: "a" }).scoped(options),
  "KnowledgeBase.ingest": (options, { kb }) => kb.ingest([], options),
  "KnowledgeBase.plan": (options, { kb }) => kb.plan([], options),
  "KnowledgeBase.search": (options, { kb }) => kb.search(question, options),
  "KnowledgeBase.ask FilteredQuestion": (asked: object, { kb }) => collect(kb.ask({ question, ...asked })),
  "KnowledgeBase.ask": (options, { kb }) => collect(kb.ask(question, options)),
  "KnowledgeBase.resume WaitingAnswer": (answer: object, { kb }) => collect(kb.resume({ ...waiting, ...answer }, {})),
  "KnowledgeBase.resume": (options, { kb }) => collect(kb.resume(waiting, {}, options)),
  "KnowledgeBase.documents": (options, { kb }) => kb.documents(options),
  "KnowledgeBase.scoped": (options, { kb }) => kb.scoped(options),
  "KnowledgeBase.verify": (options, { kb }) => kb.verify(options),
  "KnowledgeBase.conversation": (options: object, { kb }) => kb.conversation({ id: "a", ...options }),
  "KnowledgeBase.conversations": (options, { kb }) => kb.conversations(options),
  "KnowledgeBase.feedback": (options, { kb }) => kb.feedback(options),
  "KnowledgeBase.close": (options, { kb }) => kb.close(options),
  "ScopedKnowledgeBase.search": (options, { kb }) => kb.scoped({ uri: "a" }).search(question, options),
  "ScopedKnowledgeBase.ask FilteredQuestion": (asked: object, { kb }) =>
    collect(kb.scoped({ uri: "a" }).ask({ question, ...asked })),
  "ScopedKnowledgeBase.ask": (options, { kb }) => collect(kb.scoped({ uri: "a" }).ask(question, options)),
  "ScopedKnowledgeBase.resume WaitingAnswer": (answer: object, { kb }) =>
    collect(kb.scoped({ uri: "a" }).resume({ ...waiting, ...answer }, {})),
  "ScopedKnowledgeBase.resume": (options, { kb }) => collect(kb.scoped({ uri: "a" }).resume(waiting, {}, options)),
  "ScopedKnowledgeBase.documents": (options, { kb }) => kb.scoped({ uri: "a" }).documents(options),
  "ScopedKnowledgeBase.scoped": (options, { kb }) => kb.scoped({ uri: "a" }).scoped(options),
  "ScopedKnowledgeBase.conversation": (options: object, { kb }) =>
    kb.scoped({ uri: "a" }).conversation({ id: "a", ...options }),
  "ScopedKnowledgeBase.feedback": (options, { kb }) => kb.scoped({ uri: "a" }).feedback(options),
  "Conversation.rate": (options: object, { kb }) => kb.conversation({ id: "a" }).rate(1, { rating: "up", ...options }),
  "ScopedKnowledgeBase.conversations": (options, { kb }) => kb.scoped({ uri: "a" }).conversations(options),
  "Conversation.ask": (options, { kb }) => collect(kb.conversation({ id: "a" }).ask(question, options)),
  "Conversation.regenerate": async (options, { kb }) => {
    const conversation = kb.conversation({ id: "b" });
    await collect(conversation.ask(question));
    return collect(conversation.regenerate(options));
  },
  "Conversation.resume": (options, { kb }) => collect(kb.conversation({ id: "a" }).resume({}, options)),
  planIngest: (options: object, { store, embedder }) => citewell.planIngest([], { store, embedder, ...options }),
  readFile: (options) => citewell.readFile("a.txt", options),
  readFolder: (options, { folder }) => citewell.readFolder(folder, options),
  tesseract: (options: object) => loading.tesseract({ dataFolder: tesseractData, ...options }),
  "Tesseract.recognize": (options) =>
    loading.tesseract({ dataFolder: tesseractData }).recognize(new Uint8Array(), options),
  "Tesseract.recognizeWords": (options) =>
    loading.tesseract({ dataFolder: tesseractData }).recognizeWords(new Uint8Array(), options),
  readUrl: (options) => citewell.readUrl("http://localhost/", options),
  chatModel: (options: object, { transport }) => citewell.chatModel(transport, { model: "m", ...options }),
  pictureReader: (options: object, { transport }) =>
    citewell.pictureReader(citewell.chatModel(transport, { model: "citewell/local-look" }), options),
  "ChatModel.stream ChatRequest": (request: object, { chat }) => collect(chat.stream({ messages: hello, ...request })),
  "ChatModel.stream": (options, { chat }) => collect(chat.stream({ messages: hello }, options)),
  embedder: (options: object, { transport }) => citewell.embedder(transport, { model: "m", ...options }),
  "Embedder.embed": (options, { embedder }) => embedder.embed(["a"], options),
  reranker: (options: object, { transport }) => citewell.reranker(transport, { model: "m", ...options }),
  "PictureReader.describe": (options, { transport }) =>
    citewell
      .pictureReader(citewell.chatModel(transport, { model: "citewell/local-look" }))
      .describe({ bytes: new Uint8Array(), mediaType: "image/png" }, options),
  "Reranker.rerank": (options, { reranker }) => reranker.rerank("a", ["a"], options),
  answer: (options, { chat }) => citewell.answer(chat, options),
  resumeAnswer: (options, { chat }) => citewell.resumeAnswer(chat, {} as never, options),
  searchTool: (options) => citewell.searchTool(noDocuments, options),
  chunk: (options) => citewell.chunk(options),
  embedChunks: (options, { embedder }) => citewell.embedChunks(embedder, options),
  condense: (options, { chat }) => citewell.condense(chat, options),
  hyde: (options, { chat }) => citewell.hyde(chat, options),
  multiQuery: (options, { chat }) => citewell.multiQuery(chat, options),
  diversify: (options, { store }) => citewell.diversify(store, options),
  fused: (options, { store }) => citewell.fused([store.dense, store.lexical], options),
  rerank: (options, { reranker }) => citewell.rerank(reranker, options),
  search: (options, { store }) => citewell.search(store, options),
  widen: (options: object, { store }) => citewell.widen(store, { maxTokens: 100, ...options }),
  copyStore: (options, { store }) => transferring.copyStore(store, store, options),
  exportStore: (options, { store, folder }) => transferring.exportStore(store, join(folder, "export"), options),
  importStore: (options, { store, folder }) => transferring.importStore(join(folder, "export"), store, options),
  memoryStore: (options) => conforming.memoryStore("a", options),
  makeKey: (options: object, { folder }) =>
    serving.makeKey(serving.keyFile(join(folder, "keys.json")), { name: "a", ...options }),
  storeKeys: (options) => serving.storeKeys("postgres://localhost/docs", options),
  "KnowledgeBase.readers": (options: object, { kb }) => kb.readers({ workers: 1, ...options }),
  restrictRole: (options) => postgres.restrictRole("postgres://localhost/docs", "a", null, options),
  storeCases: (options: object) => conforming.storeCases({ open: async () => opened.store, ...options }),
  openStore: (options, { folder, embedder }) => citewell.openStore(join(folder, "other"), embedder, options),
  createTransport: (options: object) => citewell.createTransport({ baseUrl: "http://localhost", ...options }),
  "Transport.embeddings EmbeddingsRequest": (request: object, { transport }) =>
    transport.embeddings({ ...embeddings, ...request }),
  "Transport.embeddings": (options, { transport }) => transport.embeddings(embeddings, options),
  "Transport.rerank RerankRequest": (request: object, { transport }) => transport.rerank({ ...reranking, ...request }),
  "Transport.rerank": (options, { transport }) => transport.rerank(reranking, options),
  "Transport.chat request": (request: object, { transport }) => transport.chat({ ...chatRequest, ...request }),
  "Transport.chat": (options, { transport }) => transport.chat(chatRequest, options),
  "Transport.chatStream request": (request: object, { transport }) =>
    collect(transport.chatStream({ ...chatRequest, ...request })),
  "Transport.chatStream": (options, { transport }) => collect(transport.chatStream(chatRequest, options)),
  "Transport.createVideoTask VideoRequest": (request: object, { transport }) =>
    transport.createVideoTask({ ...catVideo, ...request }),
  "Transport.createVideoTask": (options, { transport }) => transport.createVideoTask(catVideo, options),
  "Transport.videoTask": (options, { transport }) => transport.videoTask("a", options),
  "Transport.waitForVideo": (options, { transport }) => transport.waitForVideo("a", options),
  "Transport.downloadVideo": (options, { transport, folder }) =>
    transport.downloadVideo({ id: "a", status: "succeeded", finished: true, raw: {} }, join(folder, "v"), options),
  "Transport.listVideoTasks VideoTaskListRequest": (request, { transport }) => transport.listVideoTasks(request),
  "Transport.listVideoTasks": (options, { transport }) => transport.listVideoTasks({}, options),
  "Transport.reconcileVideo": (options, { transport }) => transport.reconcileVideo(submission, options),
  "Transport.cancelVideoTask": (options, { transport }) => transport.cancelVideoTask("a", options),
  "Transport.listModels": (options, { transport }) => transport.listModels(options),
  videoCallbacks: (options: object, { transport }) =>
    videos.videoCallbacks({ transport, onTask: () => {}, ...options }),
  readPath: (options, { folder }) => loading.readPath(folder, options),
  readBucket: (options) => loading.readBucket("s3://bucket", options),
  readGit: (options, { folder }) => collect(loading.readGit(`git:${folder}`, options)),
  watchSource: (options, { folder }) => collect(loading.watchSource(citewell.readFolder(folder), options)),
  readSitemap: (options) => loading.readSitemap("http://localhost/", options),
  bootstrapInterval: (options) => evaluating.bootstrapInterval([1], options),
  randomisationTest: (options) => evaluating.randomisationTest([1], options),
  openCollection: (options, { folder }) => evaluating.openCollection(folder, options),
  createHandler: (options, { kb }) => serving.createHandler(kb, options),
  createServer: (options, { kb }) => serving.createServer(kb, options),
  evaluateAnswers: (options) => evaluating.evaluateAnswers([], options),
  evaluatePassages: (options) => evaluating.evaluatePassages([], options),
  evaluate: (options) => evaluating.evaluate([], () => Promise.resolve([]), options),
  judgeAnswers: (options, { chat }) => evaluating.judgeAnswers(chat, options),
  makeQuestions: (options, { kb }) => evaluating.makeQuestions(kb, options),
  askedQuestions: (options, { kb }) => evaluating.askedQuestions(kb, options),
  tune: (options, { kb }) => evaluating.tune(kb, options),
  explainLosses: (options) => evaluating.explainLosses(options),
  createMcpServer: (options, { kb }) => mcp.createMcpServer(kb, options),
  createMcpHandler: (options, { kb }) => mcp.createMcpHandler(kb, options),
  fromAiSdk: (options) => aiSdk.fromAiSdk(options),
  toAiSdk: (options) => aiSdk.toAiSdk(options),
  fromLangChain: (options) => langchain.fromLangChain(options),
  toLangChain: (options) => langchain.toLangChain(options),
  knowledgeBaseTool: (options) => aiSdk.knowledgeBaseTool(noDocuments, options),
  citedAnswers: (options, { kb }) => aiSdk.citedAnswers(kb, options),
  startLocalService: (options) => local.startLocalService(options),
  pullModel: (options) => local.pullModel("owner/name", options),
};
const hello = [{ role: "user", content: "hello" }] as const;
const waiting = { calls: [{}], state: {} } as unknown as citewell.WaitingAnswer;
const embeddings = { model: localDefaults.embedding, input: "a" };
const reranking = { model: localDefaults.rerank, query: "a", documents: ["a"] };
const chatRequest = { model: localDefaults.chat, messages: hello };
const submission = { model: "m", fingerprint: "", settings: {}, notBefore: new Date(), notAfter: new Date() };

const port = "a port: whoever writes one may give it fields and methods of their own";
const data = "data that the library makes, or that may carry more than the library reads";
const foreign = "what the other library writes, which may carry more than this one reads";
const runs = "what a run hands to stages, tools and sources; users do not write it";

/** Objects that are not options, by type, each with the reason why names that are not known may stand in them. */
const noOptions: Readonly<Record<string, string>> = {
  ApprovalBook: port,
  ChatModel: port,
  DocumentSource: port,
  Embedder: port,
  KnowledgeBase: port,
  McpTransport: port,
  PassageSearch: port,
  'Pick<DocumentSource, "files" | "id" | "read" | "vanished">': port,
  'Pick<Embedder<Space>, "dimension" | "space">': port,
  'Pick<Store<Space, Readonly<Record<string, Json>>>, "dimension" | "space" | "write">': port,
  'Pick<Store<Space, Readonly<Record<string, Json>>>, "documentInfo" | "knownVectors" | "space">': port,
  'Pick<Store<string, Readonly<Record<string, Json>>>, "document">': port,
  'Pick<Store<string, Readonly<Record<string, Json>>>, "knownVectors">': port,
  KeyBook: port,
  Reranker: port,
  ScopedKnowledgeBase: port,
  Searched: port,
  Stage: port,
  Store: port,
  Transport: port,
  WatchedSource: port,
  Answer: data,
  AnswerableQuery: data,
  'Pick<Chunk, "context" | "text">': data,
  PictureToRead: data,
  Submission: data,
  VideoTask: data,
  LangChainLoader: foreign,
  RequestDispatcher: foreign,
  SearchInput: foreign,
  ToolExecution: foreign,
  ReadContext: runs,
  RunContext: runs,
  ToolContext: runs,
  Filter: "refused too, by checks of their own: test/knowledge-base/filters-fail-closed.test.ts",
  OtherServiceRequest: "refused too, by the fields that each service takes: test/transport/services/chat.test.ts",
  RetrievalQuery: "each retriever reads what it needs and ignores the rest",
  Unknown: "stands for a stage in the compiler's message of a wrong order, and no value is of this type",
  StageFacts: "a fact that is not known is not compared",
  "{ readonly asset: string; }": "one of four kinds of source, told apart by their only field",
  "{ readonly bytes: Uint8Array<ArrayBufferLike>; }": "one of four kinds of source, told apart by their only field",
  "{ readonly file: string | URL; }": "one of four kinds of source, told apart by their only field",
  "{ readonly url: string; }": "one of four kinds of source, told apart by their only field",
};

const given = calls.flatMap(({ label, objects }) => objects.map((object) => ({ label, ...object })));

describe("a name that is not known", () => {
  test.each(given.filter(({ type }) => !(type in noOptions)))(
    "is refused by $label in its $type, with the known one that was probably meant",
    async ({ label, parameter, type, fields }) => {
      const act = acts[`${label} ${type}`] ?? acts[`${label} ${parameter}`] ?? acts[label];
      expect(act, `a call of ${label} in the table`).toBeDefined();
      // Shorter names are too close to one another.
      for (const known of fields.filter((field) => field.length > 3)) {
        const run = async () => act!({ [`${known}x`]: 1 } as never, opened);
        const error = await run().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error, `${known}x`).toMatchObject({
          name: expect.stringMatching(/^(Options|Transport)Error$/) as string,
          message: expect.stringMatching(new RegExp(`did you mean "?${known}\\b`)) as string,
        });
      }
    },
  );
});

describe("the walk over the declarations", () => {
  test("finds every function that the entries export at run time, and every method of what these open", () => {
    const entries = {
      ...citewell,
      ...aiSdk,
      ...langchain,
      ...evaluating,
      ...loading,
      ...local,
      ...serving,
      ...postgres,
      ...testing,
      ...conforming,
      ...transferring,
      ...transports,
      ...videos,
    };
    const functions = (values: object) =>
      Object.entries(values).flatMap(([name, value]) =>
        typeof value === "function" && !/^class\b/.test(String(value)) ? [name] : [],
      );
    const labels = new Set(calls.map(({ label }) => label));
    const { kb, transport } = opened;
    const names = [
      ...functions(entries),
      ...functions(kb).map((name) => `KnowledgeBase.${name}`),
      ...functions(kb.conversation({ id: "c" })).map((name) => `Conversation.${name}`),
      ...functions(transport).map((name) => `Transport.${name}`),
    ];
    expect(names.filter((name) => !labels.has(name))).toEqual([]);
  });

  test("meets everything that is named here", () => {
    const known = given.flatMap(({ label, parameter, type }) => [label, `${label} ${type}`, `${label} ${parameter}`]);
    const types = given.map(({ type }) => type);
    expect(Object.keys(acts).filter((name) => !known.includes(name))).toEqual([]);
    expect(Object.keys(noOptions).filter((type) => !types.includes(type))).toEqual([]);
  });
});
