import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { root } from "./support/citewell.js";

const head = `
import { Pipeline, answer, chunk, embedChunks, embedQuestion, mapStage, rerank, search, skipKnown, store } from "citewell";
import type { ChatModel, Document, Embedder, KnowledgeBase, Question, Reranker, Store } from "citewell";
declare const embed: Embedder<"model-a">;
declare const other: Embedder<"model-b">;
declare const kb: Store<"model-a">;
declare const ranker: Reranker;
declare const chat: ChatModel;
declare const base: KnowledgeBase<{ tenant: string; year: number; tags: string[] }>;
`;

/** A mistake, and the sentence with which the compiler's message about it ends. */
const mistakes: readonly (readonly [code: string, sentence: string])[] = [
  [
    "Pipeline.from<Document>().pipe(chunk()).pipe(store(kb));",
    "store() takes chunks with vectors, but chunk() gives chunks without vectors: pipe embedChunks(embedder) between them",
  ],
  [
    "Pipeline.from<Document>().pipe(store(kb));",
    "store() takes chunks with vectors, but documents come: pipe chunk() and embedChunks(embedder) between them",
  ],
  [
    "Pipeline.from<Document>().pipe(skipKnown(kb));",
    "embedChunks() and skipKnown() take chunks, but documents come: pipe chunk() between them",
  ],
  [
    "Pipeline.from<Document>().pipe(chunk()).pipe(chunk());",
    "chunk() takes documents, but chunk() gives chunks without vectors: they were chunked before, so leave one out",
  ],
  [
    "Pipeline.from<Document>().pipe(chunk()).pipe(embedChunks(other)).pipe(store(kb));",
    "store() takes chunks with vectors, but embedChunks() gives chunks with vectors: they are of another model, so use one embedder for both",
  ],
  [
    "Pipeline.from<Question>().pipe(search(kb));",
    "search() takes questions with vectors, but questions come without vectors: pipe embedQuestion(embedder) between them, or search by words with mode lexical",
  ],
  [
    "Pipeline.from<Question>().pipe(embedQuestion(other)).pipe(search(kb));",
    "search() takes questions with vectors, but embedQuestion() gives questions with vectors: they are of another model, so use one embedder for both",
  ],
  [
    "Pipeline.from<Question>().pipe(embedQuestion(embed)).pipe(rerank(ranker));",
    "rerank() and answer() take questions with their hits, but embedQuestion() gives questions with vectors: pipe search(store) between them",
  ],
  [
    "Pipeline.from<Question>().pipe(answer(chat));",
    "rerank() and answer() take questions with their hits, but questions come without vectors: pipe embedQuestion(embedder) and search(store) between them",
  ],
  [
    "Pipeline.from<Document>().pipe(embedQuestion(embed));",
    "embedQuestion() takes questions, but documents come: no stage leads from one to the other",
  ],
];

/** Calls whose mistake is in one field of a document. */
const wrongMetadata: readonly (readonly [code: string, message: RegExp])[] = [
  [
    `void base.ingest([{ uri: "a", text: "a", metadata: { tenant: 1, year: 2026, tags: [] } }]);`,
    /^Type 'number' is not assignable to type 'string'\.$/,
  ],
  [
    `void base.ingest([{ uri: "a", text: "a", metadata: { tenant: "a", tags: [] } }]);`,
    /^Property 'year' is missing in type .* but required in type .*$/,
  ],
  [
    `void base.plan([{ uri: "a", text: "a", metadata: { tenant: "a", year: "2026", tags: [] } }]);`,
    /^Type 'string' is not assignable to type 'number'\.$/,
  ],
];

/** The compiler's messages, by line of the program, each with all lines that it takes. */
async function messagesOf(lines: readonly string[]): Promise<ReadonlyMap<number, string>> {
  const folder = join(root, "build/wrong-orders");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "wrong.ts"), head + lines.join("\n"));
  const types = "../../dist";
  const paths = { citewell: [`${types}/index.d.ts`] };
  const compilerOptions = { noEmit: true, paths, noUnusedLocals: false, rootDir: "../.." };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: ["wrong.ts"] }),
  );
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const words = [compiler, "-p", folder, "--pretty", "false"];
  const { stdout } = await promisify(execFile)(process.execPath, words).catch(
    (error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? "" }),
  );
  const first = head.split("\n").length;
  const messages = stdout.split(/^(?=\S)/m).filter((message) => message !== "");
  return new Map(
    messages.map((message) => {
      const [, line, text] = /\((\d+),\d+\): error TS\d+: ([\s\S]*)$/.exec(message) ?? [undefined, "0", message];
      return [Number(line) - first, text.trimEnd()];
    }),
  );
}

describe("the compiler's own message", () => {
  let messages: ReadonlyMap<number, string>;
  const valid = `Pipeline.from<Document>().pipe(chunk()).pipe(mapStage("mark", (item) => ({ ...item, marked: item.text }))).pipe(embedChunks(embed)).pipe(store(kb));`;
  beforeAll(async () => {
    messages = await messagesOf([...mistakes.map(([code]) => code), ...wrongMetadata.map(([code]) => code), valid]);
  }, 120_000);

  test.each(mistakes.map(([code, sentence], at) => ({ code, sentence, at })))(
    "about $code is one line with both stages and the missing one",
    ({ sentence, at }) => {
      const message = messages.get(at);
      expect(message).toMatch(/^Argument of type '.*' is not assignable to parameter of type '"[^\n]*"'\.$/);
      expect(message).toContain(`"${sentence}"`);
    },
  );

  test.each(wrongMetadata.map(([code, message], at) => ({ code, message, at: mistakes.length + at })))(
    "about $code is one line",
    ({ message, at }) => {
      expect(messages.get(at)).toMatch(message);
    },
  );

  test("is not there for a right order, in which a stage of one's own knows what comes to it", () => {
    expect([...messages.keys()].toSorted((a, b) => a - b)).toEqual([...mistakes, ...wrongMetadata].map((_, at) => at));
  });
});
