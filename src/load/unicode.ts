/** An encoding whose characters are two or four bytes, found by its byte order mark or by where its zero bytes lie. */
export type WideEncoding = "utf-16le" | "utf-16be" | "utf-32le" | "utf-32be";

const sampleBytes = 65_536;

/** The byte order mark at the start, and its length in bytes. Four bytes are asked for first: UTF-32 starts like UTF-16. */
export function byteOrderMark(
  bytes: Uint8Array,
): { encoding: WideEncoding | "utf-8" | "gb18030"; length: number } | undefined {
  const starts = (...mark: readonly number[]) => mark.every((byte, index) => bytes[index] === byte);
  if (starts(0xff, 0xfe, 0, 0) && bytes.length % 4 === 0) return { encoding: "utf-32le", length: 4 };
  if (starts(0, 0, 0xfe, 0xff)) return { encoding: "utf-32be", length: 4 };
  if (starts(0x84, 0x31, 0x95, 0x33)) return { encoding: "gb18030", length: 4 };
  if (starts(0xef, 0xbb, 0xbf)) return { encoding: "utf-8", length: 3 };
  if (starts(0xff, 0xfe)) return { encoding: "utf-16le", length: 2 };
  if (starts(0xfe, 0xff)) return { encoding: "utf-16be", length: 2 };
  return undefined;
}

/**
 * The wide encoding that explains the zero bytes of a text without a byte order mark, if one does. In UTF-32 the highest
 * byte of each character is zero. In UTF-16 only one order of the bytes gives the spaces, commas and line ends that any
 * text has, and hardly a character that means nothing.
 */
export function wideEncodingOf(bytes: Uint8Array): WideEncoding | undefined {
  const sample = bytes.subarray(0, sampleBytes);
  if (!sample.includes(0)) return undefined;
  if (bytes.length % 4 === 0) {
    const highest = (place: number) => sample.every((byte, index) => index % 4 !== place || byte === 0);
    const planes = (place: number) => sample.every((byte, index) => index % 4 !== place || byte <= 0x10);
    if (highest(3) && planes(2)) return "utf-32le";
    if (highest(0) && planes(1)) return "utf-32be";
  }
  if (bytes.length % 2 !== 0) return undefined;
  const [littleEndian, bigEndian] = (["utf-16le", "utf-16be"] as const).map((encoding) => {
    const text = new TextDecoder(encoding).decode(sample);
    const meaningless = text.match(nothingInText)?.length ?? 0;
    const separators = text.match(separator)?.length ?? 0;
    return { encoding, share: meaningless > text.length / 50 ? 0 : separators / text.length };
  });
  const best = littleEndian!.share >= bigEndian!.share ? littleEndian! : bigEndian!;
  return best.share >= 0.01 ? best.encoding : undefined;
}

const separator = /[ \t\r\n,.、。，]/g;
const nothingInText = /[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\s]/gu;

/** The text, or `undefined` when the bytes are not of that encoding. */
export function decodeWide(bytes: Uint8Array, encoding: WideEncoding): string | undefined {
  if (encoding === "utf-32le" || encoding === "utf-32be") return decodeUtf32(bytes, encoding === "utf-32le");
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): string | undefined {
  if (bytes.length % 4 !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const point = view.getUint32(at, littleEndian);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
    parts.push(String.fromCodePoint(point));
  }
  return parts.join("");
}

/** Decodes a stream of UTF-32, of which a piece may end anywhere; a byte order mark is left out. */
export function utf32Decoder(encoding: "utf-32le" | "utf-32be"): (bytes: Uint8Array) => string {
  let rest: Uint8Array = new Uint8Array();
  let first = true;
  return (bytes) => {
    const joined = Buffer.concat([rest, bytes]);
    const whole = joined.length - (joined.length % 4);
    rest = joined.subarray(whole);
    const text = decodeUtf32(joined.subarray(0, whole), encoding === "utf-32le") ?? "\u{fffd}";
    if (!first || text === "") return text;
    first = false;
    return text.replace(/^\u{feff}/u, "");
  };
}
