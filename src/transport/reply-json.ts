import { isAscii } from "node:buffer";

/** JSON of a reply's body, read from its bytes. @throws SyntaxError where it is none. */
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
 * What `readJson` makes of the bytes, in less than half the time where most of them are long strings of one field, such as
 * vectors in base64. Those are taken out of the bytes, each found by its quotes; what is left is parsed, and they are put
 * back. The whole never becomes a string of its own, and the parser does not look at every letter of them. A control
 * character in such a string, which JSON forbids, is let through.
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

/** By hand: `JSON.parse` with a function that looks at each value takes as long as all the rest. */
function putBack(value: unknown, field: string, strings: readonly string[]): void {
  if (typeof value !== "object" || value === null) return;
  const parts = value as Record<string, unknown>;
  for (const name in parts) {
    const part = parts[name];
    if (typeof part === "object") putBack(part, field, strings);
    else if (name === field && typeof part === "string") parts[name] = strings[Number(part)];
  }
}

/** The field's strings, and the text in which each is replaced by its number; nothing where that would not be exact. */
function takeStrings(bytes: Buffer, key: Buffer) {
  // Without escapes every quote begins or ends a string, and no name is written in two ways.
  if (bytes.includes(backslash) || !isAscii(bytes)) return undefined;
  const strings: string[] = [];
  let rest = "";
  let copiedTo = 0;
  for (let at = bytes.indexOf(key); at !== -1; at = bytes.indexOf(key, at)) {
    at = behind(bytes, at + key.length, colon);
    // The word as a value, not as a name.
    if (bytes[at - 1] !== colon) continue;
    const start = behind(bytes, at, quote);
    if (bytes[start - 1] !== quote) return undefined;
    at = bytes.indexOf(quote, start);
    if (at === -1) return undefined;
    rest += bytes.toString("latin1", copiedTo, start) + strings.length;
    strings.push(bytes.toString("latin1", start, at));
    copiedTo = at;
  }
  if (strings.length === 0) return undefined;
  return { strings, rest: rest + bytes.toString("latin1", copiedTo) };
}

/** The place behind this byte and the blanks before it; where another byte stands there, the place of that. */
function behind(bytes: Buffer, from: number, wanted: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return bytes[at] === wanted ? at + 1 : at;
}
