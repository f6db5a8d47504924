import { createRequire } from "node:module";
import { LoadError } from "../errors.js";
import { binaryReason } from "./binary.js";
import type { FileToLoad } from "./loader.js";
import { byteOrderMark, decodeWide, utf32Decoder, wideEncodingOf } from "./unicode.js";

export interface DecodedText {
  /** Without a byte order mark, otherwise as it is in the file. */
  readonly text: string;
  /** Label of the encoding, in lower case. */
  readonly encoding: string;
  readonly warning?: string;
}

/** The characters that windows-1252 has at 0x80 to 0x9f, where Latin-1 has controls. */
const windows1252 =
  "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f" +
  "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

const oneByte = /^(?:windows-125\d|cp125\d|iso-?8859-?\d+|latin-?\d|us-ascii|ascii)$/i;

/**
 * A file's text, whatever its encoding. In the order of trust: a byte order mark, the zero bytes of UTF-16 and UTF-32,
 * what the file declares, valid UTF-8, and what the frequencies of its bytes suggest.
 *
 * @throws LoadError (`binary`) when the bytes are no text.
 */
export function decodeText({ bytes, uri }: Pick<FileToLoad, "bytes" | "uri">, declared?: string): DecodedText {
  const mark = byteOrderMark(bytes);
  if (mark) {
    const { encoding, length } = mark;
    const rest = bytes.subarray(length);
    if (encoding === "utf-8") return decodeUtf8(rest);
    const text = encoding === "gb18030" ? decodeAs(rest, encoding) : decodeWide(rest, encoding);
    if (text !== undefined) return { text, encoding };
    // A lone surrogate or a byte too many at the end costs that character, not the file.
    const lossy = encoding.startsWith("utf-32") ? undefined : new TextDecoder(encoding).decode(rest);
    if (lossy !== undefined) return { text: lossy, encoding, warning: `not all of it is valid ${encoding}` };
  }
  const wide = wideEncodingOf(bytes);
  const wideText = wide && decodeWide(bytes, wide);
  if (wide && wideText !== undefined && binaryReason(new TextEncoder().encode(wideText)) === undefined) {
    return { text: wideText, encoding: wide };
  }
  const reason = binaryReason(bytes);
  if (reason !== undefined) throw new LoadError("binary", uri, `${uri} is not text: ${reason}`);

  const asUtf8 = decodeAs(bytes, "utf-8");
  const asDeclared = declared === undefined ? undefined : decodeAs(bytes, declared);
  // Text in an encoding of one byte a character is never UTF-8 by chance: who declares it has forgotten to.
  const isMistaken = asUtf8 !== undefined && oneByte.test(declared ?? "") && bytes.some((byte) => byte >= 0x80);
  if (declared !== undefined && asDeclared !== undefined && !isMistaken)
    return { text: asDeclared, encoding: declared };
  if (asUtf8 !== undefined) return { text: asUtf8, encoding: "utf-8" };
  if (isMostlyUtf8(bytes)) return decodeUtf8(bytes);
  for (const label of likelyEncodings(bytes)) {
    const text = label === "utf-8" ? undefined : decodeAs(bytes, label);
    if (text !== undefined) return { text, encoding: label };
  }
  return { text: decodeWindows1252(bytes), encoding: "windows-1252" };
}

/** Rare enough that a good guess at Western text is a better one, where the frequencies are those of a few words. */
const rare: ReadonlySet<string> = new Set(["windows-1257", "windows-1258"]);

/** Encodings by the frequencies of the bytes, the likeliest first. */
function likelyEncodings(bytes: Uint8Array): string[] {
  const found = chardet()
    .analyse(bytes)
    .map(({ name, confidence }) => ({ label: name.toLowerCase(), confidence }));
  const [best] = found;
  const western = found.find(({ label }) => label === "iso-8859-1" || label === "windows-1252");
  const isWestern = best && western && rare.has(best.label) && 2 * western.confidence >= best.confidence;
  const labels = found.map(({ label }) => label);
  return isWestern ? [western.label, ...labels] : labels;
}

/** Decodes a stream of that encoding, as `decodeText` names it, piece by piece. What is not of it becomes U+FFFD. */
export function streamDecoder(encoding: string): (bytes: Uint8Array, more: boolean) => string {
  if (encoding === "windows-1252") return (bytes) => decodeWindows1252(bytes);
  if (encoding === "utf-32le" || encoding === "utf-32be") return utf32Decoder(encoding);
  const decoder = new TextDecoder(encoding);
  return (bytes, more) => decoder.decode(bytes, { stream: more });
}

/** The text, or `undefined` when the label is unknown or a byte is not of that encoding. */
function decodeAs(bytes: Uint8Array, label: string): string | undefined {
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    // Some versions of Node.js decode it as Latin-1 and turn euro signs and quotes into controls.
    return decoder.encoding === "windows-1252" ? decodeWindows1252(bytes) : decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeWindows1252(bytes: Uint8Array): string {
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return latin1.replace(/[\x80-\x9f]/g, (control) => windows1252[control.charCodeAt(0) - 0x80]!);
}

function decodeUtf8(bytes: Uint8Array): DecodedText {
  const text = decodeAs(bytes, "utf-8");
  if (text !== undefined) return { text, encoding: "utf-8" };
  const lossy = new TextDecoder("utf-8").decode(bytes);
  const broken = lossy.split("\u{fffd}").length - 1;
  return { text: lossy, encoding: "utf-8", warning: `${broken} broken UTF-8 sequences were replaced` };
}

/** Whether a text is UTF-8 with a few broken bytes: one in ten of its characters beyond ASCII, at most. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  let whole = 0;
  let broken = 0;
  for (const character of new TextDecoder("utf-8").decode(bytes)) {
    if (character === "\u{fffd}") broken++;
    else if (character > "\u{7f}") whole++;
  }
  return whole >= 10 * broken;
}

/** Loaded by the first text that is no UTF: most are. */
function chardet(): typeof import("chardet") {
  return createRequire(import.meta.url)("chardet") as typeof import("chardet");
}
