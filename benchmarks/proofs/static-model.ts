/**
 * Measures how fast a static embedding model works in process, and what memory it takes beside its table: 20,000 chunks of 200
 * tokens, cut from Markdown, by a model of up to 29,000 words of that Markdown and 256 dimensions of made numbers. The process that
 * measures has read nothing but the chunks before. It fails beyond 10 s of CPU, or the table and 100 MB.
 *
 *     npm run bench static-model [chunks] [folder]
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { folderEmbedder as FolderEmbedder } from "../../src/local/folder-embedder.js";
import { corpusFor, readMarkdown } from "../runner/corpus.js";
import { shipped } from "../runner/project.js";

const maxSeconds = 10;
const maxExtraMb = 100;
const chunkTokens = 200;
const dimension = 256;
const maxWords = 29_000;
const batchTexts = 32;

const [first, second] = process.argv.slice(2);
if (first === "--measure") await measure(second!);
else prepare(Number(first ?? 20_000), second);

function prepare(count: number, folder: string | undefined): void {
  const place = mkdtempSync(join(tmpdir(), "citewell-static-model-"));
  try {
    const texts = readMarkdown(corpusFor("markdown", folder).folder).map(({ text }) => text);
    writeModel(join(place, "model"), texts);
    writeFileSync(join(place, "settings.json"), JSON.stringify({ count }));
    writeFileSync(join(place, "texts.json"), JSON.stringify(texts));
    console.log(`npm run bench static-model ${process.argv.slice(2).join(" ")}`);
    console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
    // Once to cut the chunks, and once to measure without what that takes.
    for (const step of ["cut", "measure"]) {
      const words = [fileURLToPath(import.meta.url), "--measure", place];
      const { status } = spawnSync(process.execPath, words, { stdio: "inherit" });
      if (status !== 0) process.exitCode = 1;
      if (step === "cut") rmSync(join(place, "texts.json"));
    }
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function measure(place: string): Promise<void> {
  const { folderEmbedder } = await shipped<{ readonly folderEmbedder: typeof FolderEmbedder }>(
    "local/folder-embedder.js",
  );
  const open = () =>
    folderEmbedder(join(place, "model"), () => Promise.reject(new Error("a static model reads its own")));
  const cut = join(place, "chunks.json");
  if (!statSync(cut, { throwIfNoEntry: false })) {
    const { count } = JSON.parse(readFileSync(join(place, "settings.json"), "utf8")) as { readonly count: number };
    const texts = JSON.parse(readFileSync(join(place, "texts.json"), "utf8")) as readonly string[];
    writeFileSync(cut, JSON.stringify(chunksOf(texts, (await open()).tokens.measure!, count)));
    return;
  }
  const chunks = JSON.parse(readFileSync(cut, "utf8")) as readonly string[];
  const tableMb = statSync(join(place, "model", "model.safetensors")).size / 1e6;
  const peakMb = () => (process.resourceUsage().maxRSS * 1024) / 1e6;
  const before = { mb: peakMb(), cpu: process.cpuUsage(), at: performance.now() };
  const { embed } = await open();
  let vectors = 0;
  for (let at = 0; at < chunks.length; at += batchTexts) {
    vectors += (await embed(chunks.slice(at, at + batchTexts))).vectors.length;
  }
  const { user, system } = process.cpuUsage(before.cpu);
  const [cpuSeconds, extraMb] = [(user + system) / 1e6, peakMb() - before.mb - tableMb];
  const wall = ((performance.now() - before.at) / 1000).toFixed(1);
  console.log(
    `${vectors} chunks of ${chunkTokens} tokens: ${cpuSeconds.toFixed(1)} s of CPU, loading included (${wall} s wall)`,
  );
  console.log(`${extraMb.toFixed(0)} MB at most, beside a table of ${tableMb.toFixed(0)} MB`);
  if (cpuSeconds > maxSeconds || extraMb > maxExtraMb) {
    console.log(`Missed: ${maxSeconds} s and ${maxExtraMb} MB`);
    process.exitCode = 1;
  }
}

function chunksOf(
  texts: readonly string[],
  measureTokens: (text: string) => { readonly ends: Uint32Array; readonly tokens: Uint32Array },
  count: number,
): readonly string[] {
  const chunks: string[] = [];
  while (chunks.length < count) {
    for (const text of texts) {
      const { ends, tokens } = measureTokens(text);
      let [start, counted] = [0, 0];
      for (const [at, end] of ends.entries()) {
        if (tokens[at]! - counted < chunkTokens) continue;
        if (chunks.push(text.slice(start, end)) === count) return chunks;
        [start, counted] = [end, tokens[at]!];
      }
    }
    if (chunks.length === 0) throw new Error(`There is no text of ${chunkTokens} tokens`);
  }
  return chunks;
}

function writeModel(folder: string, texts: readonly string[]): void {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [word] of text.toLowerCase().matchAll(/[a-z0-9]+/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, maxWords);
  const signs = Array.from({ length: 94 }, (_, at) => String.fromCodePoint(33 + at));
  const parts = Array.from("abcdefghijklmnopqrstuvwxyz0123456789", (letter) => `##${letter}`);
  const tokens = [...new Set(["[PAD]", "[UNK]", ...signs, ...parts, ...words.map(([word]) => word)])];
  const tokenizer = {
    version: "1.0",
    added_tokens: [{ id: 1, content: "[UNK]", special: true, normalized: false }],
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: null,
    decoder: null,
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
  const rows = Float32Array.from({ length: tokens.length * dimension }, (_, at) => Math.sin(at * 12.9898));
  const shape = [tokens.length, dimension];
  const header = Buffer.from(
    JSON.stringify({ embeddings: { dtype: "F32", shape, data_offsets: [0, rows.byteLength] } }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "model.safetensors"), Buffer.concat([length, header, Buffer.from(rows.buffer)]));
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  writeFileSync(join(folder, "config.json"), JSON.stringify({ model_type: "model2vec", normalize: true }));
}
