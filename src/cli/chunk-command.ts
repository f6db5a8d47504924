import { resolve } from "node:path";
import { embeddingTokenLimit } from "../contract/catalogue.js";
import { LoadError } from "../errors.js";
import { readFile } from "../load/read-file.js";
import { embedder } from "../models/embedder.js";
import { Pipeline, type RunEvent } from "../pipeline.js";
import { chunk, type ChunkTarget } from "../stages/chunk.js";
import { collect } from "../stream.js";
import { placeInDocument } from "../text/places.js";
import { defaultTokens } from "../text/tokens.js";
import type { Document, DocumentChunk } from "../types.js";
import { connectUpstream } from "../upstream.js";
import type { ChunkFlags as CutFlags } from "./chunk-flags.js";
import { configuredTransport, settingsOf, type StoreFlags, type World } from "./command-context.js";
import type { Configuration } from "./configuration.js";
import { exitCodes } from "./failure.js";
import { counted } from "./counted.js";
import { displayReason, oneLine, safeForTerminal } from "./terminal-text.js";

export interface ChunkFlags extends Omit<CutFlags, "chunkTokens">, Pick<StoreFlags, "baseUrl" | "apiKey" | "config"> {
  readonly maxTokens?: number;
  readonly embeddingModel?: string;
  readonly json?: boolean;
}

const blank = "The file is blank: it has no chunks.\n";

export async function chunkCommand(world: World, path: string, flags: ChunkFlags): Promise<number> {
  const { maxTokens: chunkTokens, ...others } = flags;
  const settings = settingsOf(world, { ...others, ...(chunkTokens !== undefined && { chunkTokens }) });
  const document = await readOne(resolve(world.directory, path), world);
  if (!document) {
    world.stdout.write(flags.json ? `${JSON.stringify({ text: "", chunks: [] })}\n` : blank);
    return exitCodes.done;
  }
  const chunks =
    settings.chunk?.strategy === "semantic"
      ? await comparingSentences(world, settings, document)
      : await cutBy(limitOf(settings), settings, world, document);
  world.stdout.write(flags.json ? asJson(document, chunks) : describe(document, chunks));
  return exitCodes.done;
}

/** @throws LoadError when the file cannot be read, said as people type its name. */
async function readOne(path: string, { signal, directory }: World): Promise<Document | undefined> {
  const failures = new Map<string, Error>();
  const [document] = await collect(readFile(path).read({ signal, report: () => {}, failures }));
  for (const [uri, error] of failures) {
    if (!(error instanceof LoadError)) throw error;
    throw new LoadError(error.code, uri, displayReason(uri, error.message, directory), { cause: error });
  }
  return document;
}

function limitOf({ embeddingModel }: Configuration): ChunkTarget | undefined {
  if (embeddingModel === undefined) return undefined;
  return { maxInputTokens: embeddingTokenLimit(embeddingModel), tokens: defaultTokens };
}

async function cutBy(
  target: ChunkTarget | undefined,
  { chunk: settings }: Configuration,
  { signal }: World,
  document: Document,
  report?: (event: RunEvent) => void,
): Promise<DocumentChunk[]> {
  const cut = chunk({ ...settings, ...(target && { for: target }) });
  return collect(
    Pipeline.from<Document>()
      .pipe(cut)
      .stream([document], { signal, ...(report && { report }) }),
  );
}

/** By the embedder of the settings, which is asked for every sentence: what that takes is said. */
async function comparingSentences(world: World, settings: Configuration, document: Document): Promise<DocumentChunk[]> {
  const transport = configuredTransport(settings, world.environment);
  const upstream = await connectUpstream(transport, { embedding: settings.embeddingModel });
  const used = new Map<string, number>();
  try {
    const target = embedder(upstream.transport, { model: upstream.model("embedding") });
    const chunks = await cutBy(target, settings, world, document, (event) => {
      if (event.type === "progress") used.set(event.what, (used.get(event.what) ?? 0) + event.count);
    });
    const [requests, tokens] = ["request", "token"].map((what) => counted(used.get(`${what}s`) ?? 0, what));
    world.stderr.write(`Sentences compared by ${target.space}: ${requests}, ${tokens}\n`);
    return chunks;
  } finally {
    await upstream.close();
    await transport?.close();
  }
}

function asJson(document: Document, chunks: readonly DocumentChunk[]): string {
  const spans = chunks.map(({ start, end, tokens, context }) => {
    return { start, end, tokens, context, ...placeInDocument(document, start) };
  });
  return `${JSON.stringify({ text: document.text, chunks: spans })}\n`;
}

function describe(document: Document, chunks: readonly DocumentChunk[]): string {
  const blocks = chunks.map(({ start, end, tokens, context, text }, index) => {
    const { line, page } = placeInDocument(document, start);
    const place = (page === undefined ? "" : `  page ${page}`) + (line === undefined ? "" : `  line ${line}`);
    const head = `── ${index + 1}/${chunks.length}  ${start}–${end}  ${counted(tokens, "token")}${place}  ${oneLine(context, 80)}`;
    return `${head.trimEnd()}\n${safeForTerminal(text.trimEnd())}\n`;
  });
  return blocks.join("\n");
}
