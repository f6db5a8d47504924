import type { Chunk, Document, DocumentWrite, StoreWrite } from "citewell";
import type { vectorKey as VectorKey } from "../../src/text/chunking/chunk-identity.js";
import { seededRandom } from "../../test/support/seeded-random.js";
import { shipped } from "../runner/project.js";

const { vectorKey } = await shipped<{ readonly vectorKey: typeof VectorKey }>("text/chunking/chunk-identity.js");

export interface Asked {
  readonly text: string;
  readonly vector: Float32Array;
}

/** Texts and vectors that are the same in every process. */
export interface Corpus {
  readonly queries: readonly Asked[];
  /** Questions midway between two topics, further out than any text, whose neighbours are harder to find. */
  readonly midway: readonly Asked[];
  /** A hundred chunks a write, a thousandth of them for more than 100,000, a thousand at most. Another `kind` makes other documents, with their own uris. */
  readonly writes: (chunks: number, kind?: string) => Generator<Required<Pick<StoreWrite, "documents" | "vectors">>>;
}

export function madeCorpus(chunkCount: number, dimension: number, queryCount: number, wordsPerChunk = 150): Corpus {
  const chunksPerWrite = Math.max(100, Math.min(1000, Math.ceil(chunkCount / 1000)));
  let next = seededRandom(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

  // Vectors lie around centres that span 40 directions, as embeddings of texts with topics do: evenly spread vectors of
  // 1,024 dimensions are all about equally far from each other, and no index can rank them.
  const latent = 40;
  const directions = Array.from({ length: latent }, () => Float32Array.from({ length: dimension }, normal));
  const centres = Array.from({ length: Math.ceil(chunkCount / 100) }, () => Array.from({ length: latent }, normal));
  const vector = () => {
    const centre = centres[Math.floor(next() * centres.length)]!;
    const made = new Float32Array(dimension);
    for (let direction = 0; direction < latent; direction++) {
      const weight = centre[direction]! + 0.6 * normal();
      const along = directions[direction]!;
      for (let at = 0; at < dimension; at++) made[at]! += weight * along[at]!;
    }
    for (let at = 0; at < dimension; at++) made[at]! += 0.52 * (2 * next() - 1);
    return made;
  };

  // Words follow Zipf's law, as in real text.
  const vocabulary = Array.from({ length: 50_000 }, (_, index) => `w${index.toString(36)}x`);
  const word = () => vocabulary[Math.floor(vocabulary.length ** next()) - 1]!;
  const words = (count: number) => Array.from({ length: count }, word).join(" ");

  // Enough documents that one of them is a ten-thousandth, because a filter admits whole documents.
  const chunksPerDocument = Math.max(1, Math.min(50, Math.floor(chunkCount / 10_000)));
  const document = (uri: string, number: number, count: number): DocumentWrite => {
    const texts = Array.from({ length: count }, () => `${words(wordsPerChunk)}\n\n`);
    const metadata = { half: number % 2, hundredth: number % 100, tenThousandth: number % 10_000 };
    const whole: Document = { uri, text: texts.join(""), metadata };
    let start = 0;
    const chunks = texts.map((text, index): Chunk => {
      const end = start + text.length;
      const chunk = { id: `${uri}-${index}`, documentId: uri, start, end, text, context: "", tokens: 200 };
      start = end;
      return chunk;
    });
    return { document: whole, chunks };
  };

  const queries = Array.from({ length: queryCount }, () => ({ text: words(5), vector: vector() }));
  const midway = queries.map(({ text, vector: one }, at) => {
    const { vector: other } = queries[(at + 1) % queries.length]!;
    return { text, vector: one.map((component, index) => component + other[index]!) };
  });
  return {
    queries,
    midway,
    *writes(chunks, kind = "made") {
      next = seededRandom(kind.length);
      for (let done = 0, number = 0; done < chunks;) {
        const documents: DocumentWrite[] = [];
        const vectors = new Map<string, Float32Array>();
        for (let room = Math.min(chunksPerWrite, chunks - done); room > 0; number++) {
          const one = document(`file:///${kind}/${number}.md`, number, Math.min(chunksPerDocument, room));
          for (const chunk of one.chunks) vectors.set(vectorKey(chunk), vector());
          documents.push(one);
          room -= one.chunks.length;
          done += one.chunks.length;
        }
        yield { documents, vectors };
      }
    },
  };
}
