import { createHash } from "node:crypto";
import type { DocumentWrite, StoreWrite } from "../core/ports.js";
import { chunkId, embeddingText, vectorKey } from "../text/chunking/chunk-identity.js";
import { seededRandom } from "../core/random.js";
import type { Chunk, Document } from "../core/types.js";

/** A document whose paragraphs, separated by blank lines, are its chunks. */
export function madeDocument(uri: string, paragraphs: readonly string[], more: Partial<Document> = {}): DocumentWrite {
  const document: Document = { uri, text: paragraphs.join("\n\n"), ...more };
  const seen = new Map<string, number>();
  let start = 0;
  const chunks = paragraphs.map((paragraph, index): Chunk => {
    const text = index < paragraphs.length - 1 ? `${paragraph}\n\n` : paragraph;
    const context = more.title ?? "";
    const embedded = embeddingText({ context, text });
    const occurrence = seen.get(embedded) ?? 0;
    seen.set(embedded, occurrence + 1);
    const id = chunkId(uri, embedded, occurrence);
    const chunk = { id, documentId: uri, start, end: start + text.length, text, context, tokens: text.length };
    start = chunk.end;
    return chunk;
  });
  return { document, chunks };
}

/** The same vector for the same text, with evenly distributed directions. */
export function madeVector(text: string, dimension: number): Float32Array {
  const next = seededRandom(createHash("sha256").update(text).digest().readUInt32LE());
  return Float32Array.from({ length: dimension }, () => gaussian(next));
}

/** The documents with a vector for each of their chunks. */
export function withVectors(documents: readonly DocumentWrite[], dimension: number): StoreWrite {
  const vectors = new Map<string, Float32Array>();
  for (const { chunks } of documents) {
    for (const chunk of chunks) vectors.set(vectorKey(chunk), madeVector(embeddingText(chunk), dimension));
  }
  return { vectors, documents };
}

export function cosine(left: Float32Array, right: Float32Array): number {
  let [product, leftSquared, rightSquared] = [0, 0, 0];
  for (let index = 0; index < left.length; index++) {
    product += left[index]! * right[index]!;
    leftSquared += left[index]! ** 2;
    rightSquared += right[index]! ** 2;
  }
  return product / Math.sqrt(leftSquared * rightSquared);
}

export function gaussian(next: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

/** Three English paragraphs with every field that a document may have, except anchors and a revision. */
export const english = madeDocument(
  "file:///en.md",
  ["The cat sat on the mat.", "Dogs bark at night.", "A cat purrs."],
  {
    title: "Animals",
    metadata: { year: 2026, nested: { tags: ["a", "b"] } },
    mediaType: "text/markdown",
    source: "docs",
  },
);

export const chinese = madeDocument("file:///zh.md", ["检索增强生成是一种技术。", "向量数据库保存向量。"]);
