import { inspect } from "node:util";

/** Keeps one secret out of everything that is shown. */
export interface Secrecy {
  /** Puts `[key]` where a text holds the secret, or a part of it. */
  readonly redact: (text: string) => string;
  /** Does the same for every text in plain data. */
  readonly redactAll: <T>(data: T) => T;
  /** Returns the cause itself if printing it shows no secret, else an error with its redacted message. */
  readonly safeCause: (cause: unknown) => unknown;
}

/** Offsets of a stretch of text, the end excluded. */
type Span = readonly [number, number];

/** Services shorten a key to its beginning and end. Fewer characters than this tell keys apart, and help nobody to guess one. */
const shortestPart = 8;

/** Limits of the cache of texts without a secret: longer texts do not recur, so caching them gains nothing. */
const longestName = 64;
const mostNames = 64;

/**
 * Hides a secret in all the ways in which services repeat it: whole, or its first or last 8 characters; in Base64, also in
 * the middle of something longer such as `user:key`; and any of these escaped for JSON, an address or HTML, up to three
 * times over.
 *
 * @param leastPart Length of the shortest beginning or end that is hidden. `Infinity` hides the whole secret alone.
 */
export function keepSecret(secret: string | undefined, leastPart = shortestPart): Secrecy {
  if (secret === undefined || secret === "") {
    return { redact: (text) => text, redactAll: (data) => data, safeCause: (cause) => cause };
  }
  const encoded = inBase64(secret).filter(({ length }) => length >= shortestPart);
  const spansIn = (text: string, depth = 0): Span[] => {
    const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
    const spans = [...partsIn(text, secret, leastPart), ...encoded.flatMap((part) => partsIn(base64, part, leastPart))];
    for (const escape of depth < 3 ? escapes : []) {
      const read = unescaped(text, escape);
      for (const [from, to] of read ? spansIn(read.plain, depth + 1) : []) {
        spans.push([read!.starts[from]!, read!.starts[to]!]);
      }
    }
    return spans;
  };
  const redact = (text: string) => without(text, spansIn(text));
  // The cache pays off because each event of a call has the same few names.
  const clean = new Set<string>();
  const redactName = (text: string): string => {
    if (clean.has(text)) return text;
    const shown = redact(text);
    if (shown === text && text.length <= longestName && clean.size < mostNames) clean.add(text);
    return shown;
  };
  const redactAll = (data: unknown): unknown => {
    if (typeof data === "string") return redactName(data);
    if (Array.isArray(data)) return data.map(redactAll);
    if (typeof data !== "object" || data === null || Object.getPrototypeOf(data) !== Object.prototype) return data;
    return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, redactAll(value)]));
  };
  return {
    redact,
    redactAll: redactAll as Secrecy["redactAll"],
    safeCause: (cause) => {
      const shown = inspect(cause, { depth: 10, showHidden: true, maxStringLength: null, breakLength: Infinity });
      if (spansIn(shown).length === 0) return cause;
      return new Error(redact(cause instanceof Error ? cause.message : String(cause)));
    },
  };
}

/** Placeholders that services without keys document for clients that require one. */
const placeholders = /^(-|EMPTY|none|ollama|(sk-)?no-key(-required)?)$/i;

/**
 * Hides a key, and the values of headers that may be keys too: each of their words of 8 characters or more, only as a whole,
 * since most say something ordinary. A placeholder of a key is none: hidden, it would take the words out of every message.
 */
export function keepSecrets(
  key: string | undefined,
  headerValues: readonly string[],
  leastPart = shortestPart,
): Secrecy {
  const words = headerValues.flatMap((value) => value.split(/\s+/)).filter(({ length }) => length >= shortestPart);
  return words
    .map((word) => keepSecret(word, Infinity))
    .reduce(
      (one, other) => ({
        redact: (text) => other.redact(one.redact(text)),
        redactAll: (data) => other.redactAll(one.redactAll(data)),
        safeCause: (cause) => other.safeCause(one.safeCause(cause)),
      }),
      keepSecret(placeholders.test(key ?? "") ? undefined : key, leastPart),
    );
}

/** Finds beginnings and ends of the secret, each as far as it goes. */
function partsIn(text: string, secret: string, leastPart: number): Span[] {
  const least = Math.min(leastPart, secret.length);
  const found: Span[] = [];
  const beginning = secret.slice(0, least);
  for (let from = text.indexOf(beginning); from !== -1; from = text.indexOf(beginning, from + 1)) {
    let length = least;
    while (length < secret.length && text[from + length] === secret[length]) length++;
    found.push([from, from + length]);
  }
  const ending = secret.slice(-least);
  for (let offset = text.indexOf(ending); offset !== -1; offset = text.indexOf(ending, offset + 1)) {
    const to = offset + least;
    let length = least;
    while (length < secret.length && text[to - length - 1] === secret.at(-length - 1)) length++;
    found.push([to - length, to]);
  }
  return found;
}

/**
 * The letters of Base64 that the secret alone decides, for each place in a group of three bytes at which it may begin. Each
 * letter holds six bits, so the first and the last one share their bits with what stands beside the secret.
 */
function inBase64(secret: string): string[] {
  return [0, 1, 2].map((before) => {
    const letters = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]).toString("base64");
    return letters.slice(Math.ceil((before * 8) / 6), Math.floor(((before + secret.length) * 8) / 6));
  });
}

// Each way of escaping is undone by itself: a key may hold what looks like another one.
const escapes = [
  /\\u00(?<hex>[0-9a-f]{2})|\\x(?<byte>[0-9a-f]{2})|\\(?<itself>["'\\/])/gi,
  /%(?<hex>[0-9a-f]{2})/gi,
  /&#x(?<hex>[0-9a-f]{2});|&#(?<decimal>\d{2,3});|&(?<name>amp|lt|gt|quot|apos);/gi,
];

const namedCharacters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The text with these escapes undone, and where in it each character started; `undefined` for a text without any. */
function unescaped(text: string, escape: RegExp) {
  let plain = "";
  const starts: number[] = [];
  let copied = 0;
  const copyTo = (end: number) => {
    plain += text.slice(copied, end);
    for (; copied < end; copied++) starts.push(copied);
  };
  for (const { 0: written, index, groups: { hex, byte = hex, decimal, itself, name } = {} } of text.matchAll(escape)) {
    copyTo(index);
    const code = byte === undefined ? decimal : `0x${byte}`;
    plain += code === undefined ? (itself ?? namedCharacters[name!.toLowerCase()]!) : String.fromCharCode(Number(code));
    starts.push(index);
    copied = index + written.length;
  }
  if (copied === 0) return undefined;
  copyTo(text.length);
  return { plain, starts: [...starts, text.length] };
}

/** Puts `[key]` in the place of each span; spans that overlap are one. */
function without(text: string, spans: readonly Span[]): string {
  let clean = "";
  let copied = 0;
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    if (from >= copied) clean += `${text.slice(copied, from)}[key]`;
    copied = Math.max(copied, to);
  }
  return clean + text.slice(copied);
}
