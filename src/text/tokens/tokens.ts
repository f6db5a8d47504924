import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { TokenCounter, TokenMeasure } from "../../core/ports.js";
import { RememberedPieces } from "../tables/remembered-pieces.js";
import { TextUnits } from "../tables/text-units.js";
import { BytePairs, Vocabulary } from "./byte-pairs.js";
import { PreTokens } from "./pre-tokens.js";

/**
 * Merging byte pairs is quadratic in the length of a piece, and a piece may be any length: runs without a break are cut
 * at this many code units before they are merged. Costs a few tokens in words nobody writes.
 */
export const longestPiece = 512;

let pieceCounts: RememberedPieces<number> | undefined;
let read: TextUnits | undefined;

/**
 * Counts as cl100k_base does, in linear time on any input; never throws on special words. It stands in for models whose
 * vocabulary is not at hand: of Chinese it counts more tokens than WordPiece vocabularies do, so texts stay within limits.
 *
 * The vocabulary is loaded on first use (10 ms for a question, 50 ms and 2 MB for more); importing this module costs nothing.
 */
export const defaultTokens: Required<TokenCounter> = {
  name: "cl100k_base",
  count: (text) => scan(text, () => {}),
  measure,
};

function measure(text: string): TokenMeasure {
  let ends = new Uint32Array(16 + (text.length >>> 2));
  let tokens = new Uint32Array(ends.length);
  let pieces = 0;
  scan(text, (end, total) => {
    if (pieces === ends.length) {
      ends = doubled(ends);
      tokens = doubled(tokens);
    }
    ends[pieces] = end;
    tokens[pieces] = total;
    pieces++;
  });
  return { ends: ends.slice(0, pieces), tokens: tokens.slice(0, pieces) };
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length);
  larger.set(array);
  return larger;
}

/** Total tokens; `visit` gets the end of each piece and the tokens up to there. */
function scan(text: string, visit: (end: number, total: number) => void): number {
  // Prose repeats most of its words: counts of pieces seen before are remembered.
  const counts = (pieceCounts ??= new RememberedPieces(loadVocabulary()));
  // The reader is taken while in use: a visitor may count another text.
  const reading = (read ?? new TextUnits()).read(text);
  read = undefined;
  const { units, length } = reading;
  const preTokens = new PreTokens(reading);
  let total = 0;
  for (let start = 0; start < length;) {
    const pieceEnd = preTokens.endOf(start);
    while (start < pieceEnd) {
      const end = pieceEnd - start > longestPiece ? cutBefore(units, start + longestPiece) : pieceEnd;
      // Every ASCII character is a token of its own.
      total += end - start === 1 && units[start]! < 0x80 ? 1 : counts.of(reading, start, end);
      visit(end, total);
      start = end;
    }
  }
  // The reader must not keep a text alive.
  read = reading.read("");
  return total;
}

/** `at`, or one less where that would part a surrogate pair. */
function cutBefore(units: Uint16Array, offset: number): number {
  return (units[offset]! & 0xfc00) === 0xdc00 && (units[offset - 1]! & 0xfc00) === 0xd800 ? offset - 1 : offset;
}

function loadVocabulary(): (piece: string) => number {
  const pairs = new BytePairs(sharedVocabulary());
  return (piece) => pairs.count(piece);
}

/** The rank of the token that a whole text is; `undefined` for a text of several. What is written most ranks lowest. */
export function tokenRank(text: string): number | undefined {
  const bytes = Buffer.from(text);
  return sharedVocabulary().rankOf(bytes, 0, bytes.length);
}

let vocabulary: Vocabulary | undefined;

function sharedVocabulary(): Vocabulary {
  return (vocabulary ??= new Vocabulary(vocabularyFile()));
}

let tokenLines: readonly string[] | undefined;

/** The text that tokens of cl100k_base stand for; `undefined` when an id is none of them. */
export function textOfTokens(ids: readonly number[]): string | undefined {
  const lines = (tokenLines ??= vocabularyFile().toString("latin1").trimEnd().split("\n"));
  const parts = ids.map((id) => lines[id]?.split(" ", 1)[0]);
  if (parts.includes(undefined)) return undefined;
  return Buffer.concat(parts.map((base64 = "") => Buffer.from(base64, "base64"))).toString();
}

function vocabularyFile(): Buffer {
  // Found by the name of the package: bundlers move this code, but not the file.
  const manifest = createRequire(import.meta.url).resolve("citewell/package.json");
  return readFileSync(join(dirname(manifest), "dist/text/tokens/cl100k_base.tiktoken"));
}

/** Width and height of the piece of a picture that vision models commonly read as one token, in pixels. */
const side = 28;
const minTokens = 4;
/** Larger pictures are commonly made smaller before they are read. */
const maxTokens = 16_384;
/** Tokens of a picture whose size is not known, as of one at an address. */
const tokensWithoutSize = 256;

/** Tokens that the frame of one message costs, beside its text and pictures. */
export const messageFrameTokens = 4;

/**
 * Tokens that a picture is counted as: one for each piece of 28 by 28 pixels. The contract does not say how pictures are
 * counted, so a service may count otherwise.
 */
export function pictureTokens({ width, height }: { readonly width?: number; readonly height?: number }): number {
  if (width === undefined || height === undefined) return tokensWithoutSize;
  const pieces = Math.ceil(width / side) * Math.ceil(height / side);
  return Math.min(maxTokens, Math.max(minTokens, pieces));
}
