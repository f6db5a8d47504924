import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Contender, CorpusDocument } from "../runner/benchmark.js";
import { loadPeer } from "../runner/packages.js";
import { peerSplitters, type SplitText } from "../shared/peer-splitters.js";
import { batchTexts, concurrency, type Ingestion, maxTokens, overlapTokens } from "./setting.js";

interface Page {
  readonly pageContent: string;
  readonly metadata: object;
}
interface HnswStore {
  addDocuments(documents: readonly Page[]): Promise<void>;
  save(folder: string): Promise<void>;
}
interface LangChainStores {
  readonly HNSWLib: new (embeddings: object, options: { readonly space: string }) => HnswStore;
}
interface LangChainCore {
  readonly Embeddings: new (options: object) => object;
}

/** Embeds one batch, as an embedding class of a peer would. */
async function embedBatch(baseUrl: string, input: readonly string[]): Promise<number[][]> {
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

async function cut(documents: readonly CorpusDocument[], split: SplitText): Promise<Page[]> {
  const pages: Page[] = [];
  for (const { uri, text } of documents) {
    for (const pageContent of await split(text)) pages.push({ pageContent, metadata: { uri } });
  }
  return pages;
}

/** Splits all documents, embeds them with the concurrency of its embedding classes, then inserts and saves all. */
async function langChain(): Promise<Ingestion> {
  const split = (await peerSplitters.langChainRecursive.load())(maxTokens, overlapTokens);
  const { HNSWLib } = await loadPeer<LangChainStores>("@langchain/community/vectorstores/hnswlib");
  const { Embeddings } = await loadPeer<LangChainCore>("@langchain/core/embeddings");
  return async ({ documents, baseUrl, timed }) => {
    class UpstreamEmbeddings extends Embeddings {
      async embedDocuments(texts: readonly string[]): Promise<number[][]> {
        const batches = batchesOf(texts);
        const vectors: number[][][] = [];
        let next = 0;
        const work = async () => {
          for (let at = next++; at < batches.length; at = next++) vectors[at] = await embedBatch(baseUrl, batches[at]!);
        };
        await Promise.all(Array.from({ length: concurrency }, work));
        return vectors.flat();
      }
    }
    const folder = mkdtempSync(join(tmpdir(), "citewell-benchmark-"));
    try {
      const { result: chunks, wallSeconds } = await timed(async () => {
        const pages = await cut(documents, split);
        const store = new HNSWLib(new UpstreamEmbeddings({}), { space: "cosine" });
        await store.addDocuments(pages);
        await store.save(folder);
        return pages.length;
      });
      return { seconds: wallSeconds, chunks };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/** Uses its splitter, and embeds one batch after another, as its ingestion does; vectors are kept in an array. */
async function llamaIndex(): Promise<Ingestion> {
  const split = (await peerSplitters.llamaIndex.load())(maxTokens, overlapTokens);
  return async ({ documents, baseUrl, timed }) => {
    const { result, wallSeconds } = await timed(async () => {
      const vectors: number[][] = [];
      const texts = (await cut(documents, split)).map(({ pageContent }) => pageContent);
      for (const batch of batchesOf(texts)) vectors.push(...(await embedBatch(baseUrl, batch)));
      return vectors;
    });
    return { seconds: wallSeconds, chunks: result.length };
  };
}

interface Compatible {
  readonly createOpenAICompatible: (options: { name: string; baseURL: string; apiKey: string }) => {
    textEmbeddingModel(model: string): object;
  };
}

/** It has no splitter, so it is given LangChain.js's; vectors are kept in an array. */
async function aiSdk(): Promise<Ingestion> {
  const split = (await peerSplitters.langChainRecursive.load())(maxTokens, overlapTokens);
  const { embedMany } = await loadPeer<typeof import("ai")>("ai");
  const { createOpenAICompatible } = await loadPeer<Compatible>("@ai-sdk/openai-compatible");
  return async ({ documents, baseUrl, timed }) => {
    const service = createOpenAICompatible({ name: "bench", baseURL: `${baseUrl}/llm/v1`, apiKey: "key" });
    // Its default sends up to 2,048 texts in a call.
    const limits = { maxEmbeddingsPerCall: { value: batchTexts } };
    const model = Object.create(service.textEmbeddingModel("made-m3"), limits) as import("ai").EmbeddingModel;
    const { result, wallSeconds } = await timed(async () => {
      const values = (await cut(documents, split)).map(({ pageContent }) => pageContent);
      return (await embedMany({ model, values, maxParallelCalls: concurrency, maxRetries: 0 })).embeddings;
    });
    return { seconds: wallSeconds, chunks: result.length };
  };
}

export const ingestPeers: readonly Contender<Ingestion>[] = [
  {
    name: "LangChain.js, HNSWLib",
    kind: "peer",
    packages: ["@langchain/textsplitters", "@langchain/community", "hnswlib-node"],
    load: langChain,
  },
  { name: "LlamaIndexTS, no index", kind: "peer", packages: ["@llamaindex/core"], load: llamaIndex },
  {
    name: "AI SDK embedMany, no index",
    kind: "peer",
    packages: ["ai", "@ai-sdk/openai-compatible", "@langchain/textsplitters"],
    load: aiSdk,
  },
];
