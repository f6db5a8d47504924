import { RememberedPieces } from "../tables/remembered-pieces.js";
import { TextUnits } from "../tables/text-units.js";
import type { TokenMeasure } from "../../core/ports.js";
import type { ModelTokenizer } from "./model-tokenizer.js";
import { isHan, separation, type Separation, type TokenizerDefinition } from "./separable-words.js";

/** Merging pairs within a word takes quadratic time: a run without white space is cut after so many code units. */
const maxMergedPiece = 1000;

/**
 * Ids of the tokens of texts. Most words come again and again, and a tokenizer spends microseconds on each of their letters:
 * the ids of a word are remembered, where the tokenizer is one that treats each word by itself (`separation`). Any other
 * reads each text as a whole, many times slower.
 */
export class WordIds {
  readonly #tokenizer: ModelTokenizer;
  readonly #separation: Separation;
  readonly #addedTokens: RegExp | undefined;
  readonly #remembered: RememberedPieces<readonly number[]>;
  readonly #units = new TextUnits();
  readonly #maxPiece: number;

  constructor(tokenizer: ModelTokenizer, definition: TokenizerDefinition) {
    this.#tokenizer = tokenizer;
    this.#separation = separation(definition);
    this.#maxPiece = definition.model.type === "BPE" ? maxMergedPiece : Infinity;
    const contents = definition.added_tokens.map(({ content }) => content).filter((content) => content !== "");
    this.#addedTokens = contents.length === 0 ? undefined : new RegExp(contents.map(literal).join("|"), "u");
    this.#remembered = new RememberedPieces((piece) => this.#encode(piece));
  }

  /** Calls `visit` with the ids of each piece of a text, in order, and the offset behind the piece. No special tokens are added. */
  scan(text: string, visit: (ids: readonly number[], end: number) => void): void {
    const { kind, cutsHan, cutsLines } = this.#separation;
    const maxPiece = this.#maxPiece;
    const isSpace = (unit: number) => unit === 0x20 || (cutsLines && isLineSpace(unit));
    if (kind === "none" || this.#addedTokens?.test(text)) {
      visit(this.#encode(text), text.length);
      return;
    }
    const read = this.#units.read(text);
    const { units, length } = read;
    const keepsSpace = kind === "with-space";
    for (let offset = 0; offset < length;) {
      let start = offset;
      while (offset < length && isSpace(units[offset]!)) offset++;
      if (offset === length && !keepsSpace) break;
      if (!keepsSpace) start = offset;
      const from = offset;
      while (offset < length && !isSpace(units[offset]!) && offset - from < maxPiece) {
        const han = cutsHan && isHan(units[offset]!);
        if (han && offset > from) break;
        offset++;
        if (han) break;
      }
      // A pair of surrogates stays together.
      if (offset - from === maxPiece && offset < length && (units[offset]! & 0xfc00) === 0xdc00) offset--;
      visit(this.#remembered.of(read, start, offset), offset);
    }
    // The reader must not keep a text alive.
    this.#units.read("");
  }

  count(text: string): number {
    let count = 0;
    this.scan(text, (ids) => (count += ids.length));
    return count;
  }

  measure(text: string): TokenMeasure {
    const ends: number[] = [];
    const tokens: number[] = [];
    let total = 0;
    this.scan(text, (ids, end) => {
      ends.push(end);
      tokens.push((total += ids.length));
    });
    // White space at the end is no piece.
    if (ends.at(-1) !== text.length && text.length > 0) {
      ends.push(text.length);
      tokens.push(total);
    }
    return { ends: Uint32Array.from(ends), tokens: Uint32Array.from(tokens) };
  }

  #encode(piece: string): readonly number[] {
    const { ids } = this.#tokenizer.encode(piece, { add_special_tokens: false });
    // A model without a token for what it does not know gives none.
    return (ids as readonly (number | undefined)[]).filter((id) => id !== undefined);
  }
}

/** White space of ASCII beside the space, which every tokenizer takes for white space. */
function isLineSpace(unit: number): boolean {
  return unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function literal(content: string): string {
  return content.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
}
