import { isAscii } from "node:buffer";

/** Parses the JSON of a reply's body from its bytes. @throws SyntaxError when it is not JSON. */
export type ReadJson = (bytes: Buffer) => unknown;

/** UTF-8 without its byte order mark. */
export function utf8(bytes: Buffer): string {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString("utf8", marked ? 3 : 0);
}

export const readJson: ReadJson = (bytes) => JSON.parse(utf8(bytes)) as unknown;

const quote = 0x22;
const colon = 0x3a;
const backslash = 0x5c;

/**
 * Returns the same as `readJson`, in less than half the time when most of the bytes are long strings of one field, such as
 * vectors in base64. The strings are cut out of the bytes by their quotes, the rest is parsed, and the strings are put
 * back: the parser never looks at each of their letters. A control character in such a string, which JSON forbids, passes.
 */
export function longStringsReader(field: string): ReadJson {
  const key = Buffer.from(JSON.stringify(field));
  return (bytes) => {
    const taken = takeStrings(bytes, key);
    if (!taken) return readJson(bytes);
    const { strings, rest } = taken;
    const parsed: unknown = JSON.parse(rest);
    putBack(parsed, field, strings);
    return parsed;
  };
}

/** Walks by hand: the reviver of `JSON.parse` takes as long as everything else together. */
function putBack(value: unknown, field: string, strings: readonly string[]): void {
  if (typeof value !== "object" || value === null) return;
  const parts = value as Record<string, unknown>;
  for (const name in parts) {
    const part = parts[name];
    if (typeof part === "object") putBack(part, field, strings);
    else if (name === field && typeof part === "string") parts[name] = strings[Number(part)];
  }
}

/** The field's strings, and the text with each replaced by its number; `undefined` when that would not be exact. */
function takeStrings(bytes: Buffer, key: Buffer) {
  // Without escapes, every quote begins or ends a string, and a name is written in one way only.
  if (bytes.includes(backslash) || !isAscii(bytes)) return undefined;
  const strings: string[] = [];
  let rest = "";
  let copiedTo = 0;
  for (let offset = bytes.indexOf(key); offset !== -1; offset = bytes.indexOf(key, offset)) {
    offset = behind(bytes, offset + key.length, colon);
    // The word stands as a value, not as a name.
    if (bytes[offset - 1] !== colon) continue;
    const start = behind(bytes, offset, quote);
    if (bytes[start - 1] !== quote) return undefined;
    offset = bytes.indexOf(quote, start);
    if (offset === -1) return undefined;
    rest += bytes.toString("latin1", copiedTo, start) + strings.length;
    strings.push(bytes.toString("latin1", start, offset));
    copiedTo = offset;
  }
  if (strings.length === 0) return undefined;
  return { strings, rest: rest + bytes.toString("latin1", copiedTo) };
}

/** The position after this byte and the white space before it; the position of another byte that stands there. */
function behind(bytes: Buffer, from: number, wanted: number): number {
  let index = from;
  while (bytes[index] === 0x20 || bytes[index] === 0x0a || bytes[index] === 0x0d || bytes[index] === 0x09) index++;
  return bytes[index] === wanted ? index + 1 : index;
}
