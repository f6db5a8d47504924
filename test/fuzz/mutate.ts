import { strToU8, unzipSync, zipSync } from "fflate";

export type Random = () => number;

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function oneOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[below(random, values.length)]!;
}

/** Larger files would take most of the time. */
const maxBytes = 2_000_000;

/** Pieces that mean something to one format or another. */
const pieces: readonly string[] = [
  ..."<>&\"'`|#[]{}()-=:;,\\\0\n\r\t".split(""),
  ..."<div> </div> <table><tr><td> <pre> <ul><li> <svg> <math> <![CDATA[ ]]> <!-- --> <script> <p constructor> &#0; &#x110000; &amp;".split(
    " ",
  ),
  "---\n",
  "...\n",
  "+++\n",
  "```\n",
  "| a | b |\n| --- | --- |\n",
  "\u{feff}",
  "\ud800",
  "\u{1f600}",
  "\u202e",
  "é",
  "中",
  "%PDF-1.7\n",
  "endobj\n",
  "stream\n",
  "<< /Length -1 >>",
  "startxref\n0\n",
  "1e999",
  "-0",
  "NaN",
  "null",
  "99999999999999999999",
  '{"a":',
  "[[[[",
  '""',
  "\r\n\r\n",
  "__proto__",
  "constructor",
  "xmlns:x='y'",
  'colspan="99999"',
  'rowspan="-1"',
  'r="XFD1048576"',
];

type Mutation = (bytes: Uint8Array, random: Random) => Uint8Array;

function splice(bytes: Uint8Array, from: number, to: number, inserted: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, from), inserted, bytes.subarray(to)]);
}

function slice(bytes: Uint8Array, random: Random): Uint8Array {
  const from = below(random, bytes.length + 1);
  return bytes.subarray(from, from + below(random, 1 + Math.min(400, bytes.length - from)));
}

const mutations: readonly Mutation[] = [
  // A byte is another one.
  (bytes, random) => {
    const at = below(random, bytes.length + 1);
    return splice(bytes, at, at + 1, Uint8Array.of(below(random, 256)));
  },
  // The end is missing.
  (bytes, random) => bytes.subarray(0, below(random, bytes.length + 1)),
  // A part is missing, or stands somewhere else.
  (bytes, random) => {
    const part = slice(bytes, random);
    return splice(
      bytes,
      part.byteOffset - bytes.byteOffset,
      part.byteOffset - bytes.byteOffset + part.length,
      new Uint8Array(),
    );
  },
  (bytes, random) => {
    const at = below(random, bytes.length + 1);
    return splice(bytes, at, at, slice(bytes, random));
  },
  // A piece of syntax where none was.
  (bytes, random) => {
    const at = below(random, bytes.length + 1);
    return splice(bytes, at, at, Buffer.from(oneOf(random, pieces)));
  },
  // A part or a piece grows: it is repeated, up to tens of thousands of times.
  (bytes, random) => {
    const at = below(random, bytes.length + 1);
    const part = random() < 0.5 ? slice(bytes, random) : Buffer.from(oneOf(random, pieces));
    const times = Math.min(10 ** (1 + below(random, 5)), Math.floor(maxBytes / Math.max(1, part.length)));
    return splice(bytes, at, at, Buffer.alloc(part.length * times, part));
  },
];

/** The bytes with a few mutations, one after the other. */
export function mutated(bytes: Uint8Array, random: Random): Uint8Array {
  let result = bytes;
  for (let count = 1 + below(random, 4); count > 0; count--) result = oneOf(random, mutations)(result, random);
  return result.subarray(0, 2 * maxBytes);
}

/** A packed file in which one part is mutated; one in ten is mutated as it is packed. */
export function mutatedPackage(bytes: Uint8Array, random: Random): Uint8Array {
  if (random() < 0.1) return mutated(bytes, random);
  const parts = unzipSync(bytes);
  const path = oneOf(random, Object.keys(parts));
  return zipSync({ ...parts, [path]: mutated(parts[path]!, random) }, { level: 1 });
}

export function packed(parts: Readonly<Record<string, string>>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)])));
}
