import { statSync } from "node:fs";
import { resolve } from "node:path";
import { embeddingTokenLimit } from "../../contract/catalogue.js";
import { LoadError, OptionsError } from "../../core/errors.js";
import { readFile } from "../../load/sources/read-file.js";
import { Pipeline, type RunEvent } from "../../core/pipeline.js";
import { chunk, type ChunkTarget } from "../../stages/indexing/chunk.js";
import { collect } from "../../core/stream.js";
import { chunkPlaces, clockTime } from "../../text/blocks/places.js";
import { defaultTokens } from "../../text/tokens/tokens.js";
import type { Document, DocumentChunk } from "../../core/types.js";
import { connectModels } from "../../knowledge-base/connect-models.js";
import {
  configuredTransport,
  embeddingModelOf,
  print,
  readSettings,
  type ChunkFlags as ChunkingFlags,
  type CommandIo,
  type StoreFlags,
} from "../command-context.js";
import type { Configuration } from "../settings/configuration.js";
import { exitCodes, messageOf } from "../output/failure.js";
import { counted } from "../output/figures.js";
import { given } from "../../core/given.js";
import { displayReason, oneLine, safeForTerminal } from "../output/terminal-text.js";

export interface ChunkFlags
  extends Omit<ChunkingFlags, "chunkTokens">, Pick<StoreFlags, "service" | "baseUrl" | "apiKey" | "config"> {
  readonly maxTokens?: number;
  readonly embeddingModel?: string;
  readonly json?: boolean;
}

const blank = "The file is blank, so it has no chunks.\n";

export async function chunkCommand(io: CommandIo, path: string, flags: ChunkFlags): Promise<number> {
  const { maxTokens: chunkTokens, ...others } = flags;
  const settings = readSettings(io, { ...others, ...given({ chunkTokens }) });
  const file = resolve(io.directory, path);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    const hint = "name one of its files, or plan the whole folder with citewell plan";
    throw new OptionsError("options", `${file} is a folder: ${hint}`);
  }
  const document = await readOne(file, io);
  if (!document) {
    print(io, flags, { text: "", chunks: [] }, blank);
    return exitCodes.done;
  }
  const chunks =
    settings.chunk?.strategy === "semantic"
      ? await chunkByMeaning(io, settings, document)
      : await chunkFor(limitOf(settings), settings, io, document);
  print(io, flags, asJson(document, chunks), describe(document, chunks));
  return exitCodes.done;
}

/** @throws LoadError when the file cannot be read, with its name as people type it. */
async function readOne(path: string, io: CommandIo): Promise<Document | undefined> {
  const failures = new Map<string, Error>();
  const [document] = await collect(readFile(path).read({ signal: io.signal, report: () => {}, failures }));
  for (const [uri, error] of failures) {
    if (!(error instanceof LoadError)) throw error;
    throw new LoadError(error.code, uri, displayReason(uri, messageOf(error), io), { cause: error });
  }
  return document;
}

function limitOf({ embeddingModel }: Configuration): ChunkTarget | undefined {
  if (embeddingModel === undefined) return undefined;
  return { maxInputTokens: embeddingTokenLimit(embeddingModel), tokens: defaultTokens };
}

async function chunkFor(
  target: ChunkTarget | undefined,
  { chunk: settings }: Configuration,
  { signal }: CommandIo,
  document: Document,
  report?: (event: RunEvent) => void,
): Promise<DocumentChunk[]> {
  const chunking = Pipeline.from<Document>().pipe(chunk({ ...settings, ...given({ for: target }) }));
  return collect(chunking.stream([document], { signal, ...given({ report }) }));
}

/** Chunks by meaning: the embedder of the settings embeds every sentence, and stderr says what that cost. */
async function chunkByMeaning(io: CommandIo, settings: Configuration, document: Document): Promise<DocumentChunk[]> {
  const transport = configuredTransport(io, settings);
  const models = await connectModels({ transport, models: { embedding: embeddingModelOf(io, settings) } });
  const used = new Map<string, number>();
  try {
    const target = models.embedder;
    const chunks = await chunkFor(target, settings, io, document, (event) => {
      if (event.type === "progress") used.set(event.what, (used.get(event.what) ?? 0) + event.count);
    });
    const [requests, tokens] = ["request", "token"].map((what) => counted(used.get(`${what}s`) ?? 0, what));
    io.notes.write(`Sentences compared by ${target.space}: ${requests}, ${tokens}\n`);
    return chunks;
  } finally {
    await models.close();
    await transport?.close();
  }
}

function asJson(document: Document, chunks: readonly DocumentChunk[]): object {
  const places = chunkPlaces(document, chunks);
  const spans = chunks.map(({ start, end, tokens, context }, index) => {
    const { anchors: _, ...place } = places[index]!;
    return { start, end, tokens, context, ...place };
  });
  return { text: document.text, chunks: spans };
}

function describe(document: Document, chunks: readonly DocumentChunk[]): string {
  const places = chunkPlaces(document, chunks);
  const blocks = chunks.map(({ start, end, tokens, context, text }, index) => {
    const { line, page, seconds } = places[index]!;
    const parts = [
      ["page", page],
      ["line", line],
      ["at", seconds === undefined ? undefined : clockTime(seconds)],
    ] as const;
    const place = parts.map(([name, value]) => (value === undefined ? "" : `  ${name} ${value}`)).join("");
    const head = `── ${index + 1}/${chunks.length}  ${start}–${end}  ${counted(tokens, "token")}${place}  ${oneLine(context, 80)}`;
    return `${head.trimEnd()}\n${safeForTerminal(text.trimEnd())}\n`;
  });
  return blocks.join("\n");
}
