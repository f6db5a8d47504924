import { createRequire } from "node:module";
import { LoadError } from "../../core/errors.js";
import { conversionOf } from "./conversions.js";
import { binaryReason } from "./binary.js";
import type { FileToLoad, RowFile } from "./loader.js";

export interface DecodedText {
  /** Without a byte order mark, otherwise unchanged. */
  readonly text: string;
  /** Label of the encoding, in lower case. */
  readonly encoding: string;
  readonly warning?: string;
}

type Utf32 = "utf-32le" | "utf-32be";
/** An encoding of two or four bytes per character, found by its byte order mark or the positions of its zero bytes. */
type WideEncoding = "utf-16le" | "utf-16be" | Utf32;

/** The characters that windows-1252 has at 0x80 to 0x9f, where Latin-1 has controls. */
const windows1252 =
  "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f" +
  "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

const singleByte = /^(?:windows-125\d|cp125\d|iso-?8859-?\d+|latin-?\d|us-ascii|ascii)$/i;

/**
 * Decodes a file's text, whatever its encoding. Evidence in the order of trust: a byte order mark, the zero bytes of
 * UTF-16 and UTF-32, the encoding that the file declares, valid UTF-8, and the frequencies of its bytes.
 *
 * @throws LoadError (`binary`) when the bytes are not text.
 */
export function decodeText({ bytes, uri }: Pick<FileToLoad, "bytes" | "uri">, declared?: string): DecodedText {
  const mark = byteOrderMark(bytes);
  if (mark) {
    const { encoding, length } = mark;
    const rest = bytes.subarray(length);
    if (encoding === "utf-8") return decodeUtf8(rest);
    const text = isUtf32(encoding) ? decodeUtf32(rest, encoding) : decodeAs(rest, encoding);
    if (text !== undefined) return { text, encoding };
    // A lone surrogate or an odd byte at the end costs that character, not the file.
    if (!isUtf32(encoding)) {
      const warning = `not all of it is valid ${encoding}`;
      return { text: new TextDecoder(encoding).decode(rest), encoding, warning };
    }
  }
  const wide = wideEncodingOf(bytes);
  const wideText = wide && (isUtf32(wide) ? decodeUtf32(bytes, wide) : decodeAs(bytes, wide));
  if (wide && wideText !== undefined && binaryReason(new TextEncoder().encode(wideText)) === undefined) {
    return { text: wideText, encoding: wide };
  }
  const reason = binaryReason(bytes);
  if (reason !== undefined) {
    const way = conversionOf(uri);
    throw new LoadError("binary", uri, `${uri} is not text: ${reason}${way === undefined ? "" : `; ${way}`}`);
  }

  const asUtf8 = decodeAs(bytes, "utf-8");
  const asDeclared = declared === undefined || declared === "utf-8" ? asUtf8 : decodeAs(bytes, declared);
  // Text in a single-byte encoding is never valid UTF-8 by chance, so such a declaration is a leftover.
  const isMistaken = asUtf8 !== undefined && singleByte.test(declared ?? "") && bytes.some((byte) => byte >= 0x80);
  if (declared !== undefined && asDeclared !== undefined && !isMistaken) {
    return { text: asDeclared, encoding: declared };
  }
  if (asUtf8 !== undefined) return { text: asUtf8, encoding: "utf-8" };
  if (isMostlyUtf8(bytes)) return decodeUtf8(bytes);
  for (const label of likelyEncodings(bytes)) {
    const text = label === "utf-8" ? undefined : decodeAs(bytes, label);
    if (text !== undefined) return { text, encoding: label };
  }
  return { text: decodeWindows1252(bytes), encoding: "windows-1252" };
}

/** The first bytes, one character each: whatever the encoding, a declaration of it is in ASCII. */
export function latin1Start(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes.subarray(0, 4096));
}

/** The encoding that an XML file declares in its first line, given the start of the file. */
export function declaredInXml(start: string): string | undefined {
  const label = /^(?:\u00ef\u00bb\u00bf)?\s*<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)/.exec(start)?.[1]?.toLowerCase();
  return label && readableByteByByte(label);
}

/** A declaration that can be read byte by byte is not in UTF-16, whatever it says. */
export function readableByteByByte(label: string): string {
  return label.startsWith("utf-16") ? "utf-8" : label;
}

/** Bytes from which the encoding of a stream is told. */
const streamSampleBytes = 262_144;

/**
 * Decodes a stream, piece by piece, whatever its encoding; a byte order mark is left out.
 *
 * @throws LoadError (`binary`) when its start is not text.
 */
export async function* decodedChunks({ uri, chunks }: RowFile): AsyncGenerator<string> {
  const held: Uint8Array[] = [];
  let size = 0;
  let decode: ((bytes: Uint8Array, more: boolean) => string) | undefined;
  const start = () => {
    const bytes = Buffer.concat(held);
    decode = streamDecoder(decodeText({ bytes: wholeLines(bytes), uri }).encoding);
    return decode(bytes, true);
  };
  for await (const chunk of chunks) {
    if (decode) {
      yield decode(chunk, true);
      continue;
    }
    held.push(chunk);
    size += chunk.length;
    if (size >= streamSampleBytes) yield start();
  }
  if (!decode && size > 0) yield start();
  if (decode) yield decode(new Uint8Array(), false);
}

/** The bytes up to the last line end, in steps of four: half a character at the end would look like another encoding. */
function wholeLines(bytes: Buffer): Uint8Array {
  if (bytes.length < streamSampleBytes) return bytes;
  const aligned = bytes.subarray(0, bytes.length - (bytes.length % 4));
  if (aligned.includes(0)) return aligned;
  const end = aligned.lastIndexOf(10);
  return end < 0 ? aligned : aligned.subarray(0, end + 1);
}

/** A decoder for the pieces of a stream in an encoding named by `decodeText`. Invalid bytes become U+FFFD. */
function streamDecoder(encoding: string): (bytes: Uint8Array, more: boolean) => string {
  if (encoding === "windows-1252") return (bytes) => decodeWindows1252(bytes);
  if (encoding !== "utf-32le" && encoding !== "utf-32be") {
    const decoder = new TextDecoder(encoding);
    return (bytes, more) => decoder.decode(bytes, { stream: more });
  }
  let rest: Uint8Array = new Uint8Array();
  let isFirst = true;
  return (bytes) => {
    const joined = Buffer.concat([rest, bytes]);
    const whole = joined.length - (joined.length % 4);
    rest = joined.subarray(whole);
    const text = decodeUtf32(joined.subarray(0, whole), encoding) ?? "\u{fffd}";
    if (!isFirst || text === "") return text;
    isFirst = false;
    return text.replace(/^\u{feff}/u, "");
  };
}

/** The byte order mark at the start, and its length in bytes. Marks of four bytes come first: UTF-32 starts like UTF-16. */
function byteOrderMark(
  bytes: Uint8Array,
): { encoding: WideEncoding | "utf-8" | "gb18030"; length: number } | undefined {
  const starts = (...mark: readonly number[]) => mark.every((byte, index) => bytes[index] === byte);
  if (starts(0xff, 0xfe, 0, 0) && bytes.length % 4 === 0) return { encoding: "utf-32le", length: 4 };
  if (starts(0, 0, 0xfe, 0xff)) return { encoding: "utf-32be", length: 4 };
  if (starts(0x84, 0x31, 0x95, 0x33)) return { encoding: "gb18030", length: 4 };
  if (starts(0xef, 0xbb, 0xbf)) return { encoding: "utf-8", length: 3 };
  if (starts(0xff, 0xfe)) return { encoding: "utf-16le", length: 2 };
  return starts(0xfe, 0xff) ? { encoding: "utf-16be", length: 2 } : undefined;
}

const separator = /[ \t\r\n,.、。，]/g;
const unlikelyInText = /[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\s]/gu;

/**
 * The wide encoding that explains the zero bytes of a text without a byte order mark, if one does. In UTF-32 the highest
 * byte of each character is zero. In UTF-16 only one order of the bytes gives the spaces, commas and line ends that any
 * text has, and hardly a character without meaning.
 */
function wideEncodingOf(bytes: Uint8Array): WideEncoding | undefined {
  const sample = bytes.subarray(0, 65_536);
  if (!sample.includes(0)) return undefined;
  if (bytes.length % 4 === 0) {
    const isAtMost = (max: number, place: number) => sample.every((byte, index) => index % 4 !== place || byte <= max);
    if (isAtMost(0, 3) && isAtMost(0x10, 2)) return "utf-32le";
    if (isAtMost(0, 0) && isAtMost(0x10, 1)) return "utf-32be";
  }
  if (bytes.length % 2 !== 0) return undefined;
  const [littleEndian, bigEndian] = (["utf-16le", "utf-16be"] as const).map((encoding) => {
    const text = new TextDecoder(encoding).decode(sample);
    const unlikely = text.match(unlikelyInText)?.length ?? 0;
    const separators = text.match(separator)?.length ?? 0;
    return { encoding, share: unlikely > text.length / 50 ? 0 : separators / text.length };
  });
  const best = littleEndian!.share >= bigEndian!.share ? littleEndian! : bigEndian!;
  return best.share >= 0.01 ? best.encoding : undefined;
}

/** Encodings so rare that a good guess at Western text is better, where the frequencies are those of a few words. */
const rareEncodings: ReadonlySet<string> = new Set(["windows-1257", "windows-1258"]);

/** Encodings by the frequencies of the bytes, the likeliest first. */
function likelyEncodings(bytes: Uint8Array): string[] {
  const found = chardet()
    .analyse(bytes)
    .map(({ name, confidence }) => ({ label: name.toLowerCase(), confidence }));
  const [best] = found;
  const western = found.find(({ label }) => label === "iso-8859-1" || label === "windows-1252");
  const isWestern = best && western && rareEncodings.has(best.label) && 2 * western.confidence >= best.confidence;
  const labels = found.map(({ label }) => label);
  return isWestern ? [western.label, ...labels] : labels;
}

/** Text in the encoding that an old format names; where that is unknown or wrong, as windows-1252, which knows any byte. */
export function decodeLegacy(bytes: Uint8Array, label: string): string {
  return decodeAs(bytes, label) ?? decodeWindows1252(bytes);
}

/** The text, or `undefined` when the label is unknown or a byte is not valid in that encoding. */
function decodeAs(bytes: Uint8Array, label: string): string | undefined {
  try {
    const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: label.startsWith("utf-16") });
    // Some versions of Node.js decode it as Latin-1 and turn euro signs and quotes into controls.
    return decoder.encoding === "windows-1252" ? decodeWindows1252(bytes) : decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function isUtf32(encoding: string): encoding is Utf32 {
  return encoding.startsWith("utf-32");
}

function decodeUtf32(bytes: Uint8Array, encoding: Utf32): string | undefined {
  if (bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  for (let index = 0; index < bytes.length; index += 4) {
    const point = view.getUint32(index, encoding === "utf-32le");
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
    parts.push(String.fromCodePoint(point));
  }
  return parts.join("");
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
  let valid = 0;
  let broken = 0;
  for (const character of new TextDecoder("utf-8").decode(bytes)) {
    if (character === "\u{fffd}") broken++;
    else if (character > "\u{7f}") valid++;
  }
  return valid >= 10 * broken;
}

/** Loaded by the first text that is not Unicode, since most texts are. */
function chardet(): typeof import("chardet") {
  return createRequire(import.meta.url)("chardet") as typeof import("chardet");
}
