import { resolve } from "node:path";
import { embeddingTokenLimit } from "../contract/catalogue.js";
import { readFile } from "../load/read-file.js";
import { Pipeline } from "../pipeline.js";
import { chunk } from "../stages/chunk.js";
import { collect } from "../stream.js";
import { placeInDocument } from "../text/places.js";
import { defaultTokens } from "../text/tokens.js";
import type { Document, DocumentChunk } from "../types.js";
import type { World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { oneLine, safeForTerminal } from "./terminal-text.js";

export interface ChunkFlags {
  readonly maxTokens?: number;
  readonly overlapTokens?: number;
  readonly embeddingModel?: string;
  readonly json?: boolean;
}

const blank = "The file is blank: it has no chunks.\n";

export async function chunkCommand(world: World, path: string, flags: ChunkFlags): Promise<number> {
  const { maxTokens, overlapTokens, embeddingModel } = flags;
  const [document] = await collect(readFile(resolve(world.directory, path)));
  if (!document) {
    world.stdout.write(flags.json ? `${JSON.stringify({ text: "", chunks: [] })}\n` : blank);
    return exitCodes.done;
  }
  const limit = embeddingModel === undefined ? undefined : embeddingTokenLimit(embeddingModel);
  const cut = chunk({
    ...(limit !== undefined && { for: { maxInputTokens: limit, tokens: defaultTokens } }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(overlapTokens !== undefined && { overlapTokens }),
  });
  const chunks = await collect(Pipeline.from<Document>().pipe(cut).stream([document], { signal: world.signal }));
  world.stdout.write(flags.json ? asJson(document, chunks) : describe(document, chunks));
  return exitCodes.done;
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
    const head = `── ${index + 1}/${chunks.length}  ${start}–${end}  ${tokens} tokens${place}  ${oneLine(context, 80)}`;
    return `${head.trimEnd()}\n${safeForTerminal(text.trimEnd())}\n`;
  });
  return blocks.join("\n");
}
