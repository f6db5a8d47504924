/** First bytes of binary files that may look like text for a while. */
const signatures: readonly (readonly [name: string, bytes: string])[] = [
  ["PDF", "%PDF-"],
  ["PNG", "\x89PNG"],
  ["JPEG", "\xff\xd8\xff"],
  ["GIF", "GIF8"],
  ["ZIP", "PK\x03\x04"],
  ["gzip", "\x1f\x8b"],
  ["bzip2", "BZh"],
  ["xz", "\xfd7zXZ"],
  ["Zstandard", "\x28\xb5\x2f\xfd"],
  ["7-Zip", "7z\xbc\xaf\x27\x1c"],
  ["RAR", "Rar!\x1a"],
  ["ELF", "\x7fELF"],
  ["Office 97", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
  ["SQLite", "SQLite format 3\0"],
  ["Java class", "\xca\xfe\xba\xbe"],
  ["WebAssembly", "\0asm"],
  ["RIFF", "RIFF"],
  ["Ogg", "OggS"],
];

/** Share of control characters above which a file is not text. */
const maxControlShare = 0.1;
const sampleBytes = 65_536;

/** Why a file cannot be read as `expected`, judged by its first bytes: it is empty or another kind; `undefined` otherwise. */
export function wrongKindReason(bytes: Uint8Array, expected: string): string | undefined {
  if (bytes.length === 0) return "is empty (0 bytes)";
  const name = signatureOf(bytes);
  if (name === expected || (name === undefined && binaryReason(bytes) !== undefined)) return undefined;
  const kind = name === undefined ? "text" : `a ${name} file`;
  return `is ${kind} by its first bytes, whatever its name says: give it the ending of what it is`;
}

/** Why bytes are not text, or `undefined` when they may be. UTF-16 and UTF-32 hold NULs: rule them out first. */
export function binaryReason(bytes: Uint8Array): string | undefined {
  const signature = signatureOf(bytes);
  if (signature !== undefined) return `a ${signature} file`;
  const nul = bytes.indexOf(0);
  if (nul >= 0) return `a NUL byte at ${nul}`;
  const sample = bytes.subarray(0, sampleBytes);
  let controls = 0;
  for (let index = 0; index < sample.length; index++) if (isControl(sample[index]!)) controls++;
  const share = controls / sample.length;
  return share > maxControlShare ? `${Math.round(100 * share)}% control characters` : undefined;
}

function signatureOf(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  return signatures.find(([, first]) => start.startsWith(first))?.[0];
}

/** Control characters except backspace, white space, and the escape that coloured logs and ISO-2022 are full of. */
function isControl(byte: number): boolean {
  return (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27) || byte === 127;
}
