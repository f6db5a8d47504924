/**
 * Splits, embeds and inserts as users of the peers do. `ingest.ts` forks it with the peer's name, a folder of Markdown, the
 * address of the upstream and a dimension; it answers with seconds and chunks, or with nothing if the peer is not
 * installed. Texts, chunk size, batch size and concurrency are the same as ours.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { batchTexts, concurrency, maxTokens, markdownIn, overlapTokens } from "./ingest-setting.js";
import { loadPeer } from "./peers.js";
import { peerSplitters } from "./shared/peer-splitters.js";

export const peers = {
  "LangChain.js": { splitter: peerSplitters.langChainRecursive, ingest: langChain },
  LlamaIndexTS: { splitter: peerSplitters.llamaIndex, ingest: llamaIndex },
} as const;
export type PeerName = keyof typeof peers;

export interface PeerRun {
  readonly seconds: number;
  readonly chunks: number;
}

interface Document {
  readonly pageContent: string;
  readonly metadata: object;
}
interface HnswStore {
  addDocuments(documents: readonly Document[]): Promise<void>;
  save(folder: string): Promise<void>;
}
interface LangChainStores {
  readonly HNSWLib: new (embeddings: object, options: { readonly space: string }) => HnswStore;
}
interface LangChainCore {
  readonly Embeddings: new (options: object) => object;
}

const program = fileURLToPath(import.meta.url);
if (process.argv[1] === program) {
  const [name, folder, baseUrl] = process.argv.slice(2) as [PeerName, string, string];
  process.send!((await peers[name].ingest(name, folder, baseUrl)) ?? {});
  process.disconnect();
}

/** Embeds one batch. */
async function embed(baseUrl: string, input: readonly string[]): Promise<number[][]> {
  const response = await fetch(`${baseUrl}/llm/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "made-m3", input, encoding_format: "base64" }),
  });
  const { data } = (await response.json()) as { readonly data: readonly { readonly embedding: string }[] };
  return data.map(({ embedding }) => {
    const bytes = Buffer.from(embedding, "base64");
    return Array.from(new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4));
  });
}

function batchesOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / batchTexts) }, (_, at) =>
    items.slice(at * batchTexts, (at + 1) * batchTexts),
  );
}

async function splitterOf(name: PeerName) {
  const ofSize = await peers[name].splitter.load();
  return ofSize(maxTokens, overlapTokens);
}

/** Splits all documents, embeds them with the concurrency of its embedding classes, then inserts and saves all. */
async function langChain(name: PeerName, folder: string, baseUrl: string): Promise<PeerRun | undefined> {
  const split = await splitterOf(name);
  const stores = await loadPeer<LangChainStores>("@langchain/community/vectorstores/hnswlib");
  const core = await loadPeer<LangChainCore>("@langchain/core/embeddings");
  if (!split || !stores || !core) return undefined;
  class UpstreamEmbeddings extends core.Embeddings {
    async embedDocuments(texts: readonly string[]): Promise<number[][]> {
      const batches = batchesOf(texts);
      const vectors: number[][][] = [];
      let next = 0;
      const work = async () => {
        for (let at = next++; at < batches.length; at = next++) vectors[at] = await embed(baseUrl, batches[at]!);
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      return vectors.flat();
    }
    embedQuery(text: string): Promise<number[]> {
      return this.embedDocuments([text]).then(([vector]) => vector!);
    }
  }
  const documents = markdownIn(folder);
  const saved = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
  try {
    const began = performance.now();
    const chunks: Document[] = [];
    for (const { uri, text } of documents) {
      for (const pageContent of await split(text)) chunks.push({ pageContent, metadata: { uri } });
    }
    const store = new stores.HNSWLib(new UpstreamEmbeddings({}), { space: "cosine" });
    await store.addDocuments(chunks);
    await store.save(saved);
    return { seconds: (performance.now() - began) / 1000, chunks: chunks.length };
  } finally {
    rmSync(saved, { recursive: true, force: true });
  }
}

/** Uses its splitter, and embeds one batch after another, as its ingestion does; vectors are kept in an array. */
async function llamaIndex(name: PeerName, folder: string, baseUrl: string): Promise<PeerRun | undefined> {
  const split = await splitterOf(name);
  if (!split) return undefined;
  const documents = markdownIn(folder);
  const began = performance.now();
  const texts: string[] = [];
  for (const { text } of documents) texts.push(...(await split(text)));
  const vectors: number[][] = [];
  for (const batch of batchesOf(texts)) vectors.push(...(await embed(baseUrl, batch)));
  return { seconds: (performance.now() - began) / 1000, chunks: vectors.length };
}
