import type { DocumentWrite, StoredDocumentInfo } from "../core/ports.js";
import type { Chunk, Document } from "../core/types.js";

/** Fewest characters of a passage that is worth asking about. */
const minCharacters = 160;

/** Draws passages evenly over documents: each document once, then each a second time, in an order of its own by the seed. */
export class PassageDraw {
  readonly #read: (uri: string) => Promise<DocumentWrite | undefined>;
  readonly #random: () => number;
  /** Ids of chunks that were drawn, by uri. */
  readonly #drawn = new Map<string, Set<string>>();
  #round: string[];
  #next: string[] = [];

  constructor(
    documents: readonly Pick<StoredDocumentInfo, "uri" | "chunks">[],
    read: (uri: string) => Promise<DocumentWrite | undefined>,
    random: () => number,
  ) {
    this.#read = read;
    this.#random = random;
    this.#round = this.#shuffled(documents.filter(({ chunks }) => chunks > 0).map(({ uri }) => uri));
  }

  /**
   * Passages of the next document, each drawn once: two for a question on two, where it has so many, else one. `undefined` when
   * all are drawn.
   */
  async next(wanted: 1 | 2): Promise<{ readonly document: Document; readonly chunks: readonly Chunk[] } | undefined> {
    // Documents without so many passages are kept for other questions, and passed over once.
    for (let passed = 0; passed <= this.#round.length + this.#next.length;) {
      if (this.#round.length === 0) {
        if (this.#next.length === 0) return undefined;
        this.#round = this.#shuffled(this.#next);
        this.#next = [];
      }
      const uri = this.#round.shift()!;
      const stored = await this.#read(uri);
      const drawn = this.#drawn.get(uri) ?? new Set();
      this.#drawn.set(uri, drawn);
      if (!stored) continue;
      const left = passagesOf(stored).filter(({ id }) => !drawn.has(id));
      if (left.length === 0) continue;
      if (left.length < wanted) {
        this.#next.push(uri);
        passed++;
        continue;
      }
      const chunks = this.#shuffled(left).slice(0, wanted);
      for (const { id } of chunks) drawn.add(id);
      if (left.length > chunks.length) this.#next.push(uri);
      return { document: stored.document, chunks };
    }
    return undefined;
  }

  #shuffled<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, draw: this.#random() }))
      .toSorted((a, b) => a.draw - b.draw)
      .map(({ item }) => item);
  }
}

/** The chunks of a document, small ones joined to the next: questions should not depend on the size that is to be tuned. */
function passagesOf({ document, chunks }: DocumentWrite): readonly Chunk[] {
  const passages: Chunk[] = [];
  let open: Chunk | undefined;
  for (const chunk of chunks) {
    const { start, context, id } = open ?? chunk;
    const text = document.text.slice(start, chunk.end);
    open = { ...chunk, id, start, context, text };
    if (text.trim().length < minCharacters) continue;
    passages.push(open);
    open = undefined;
  }
  return passages;
}
