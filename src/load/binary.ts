/** First bytes of files that are no text though they may look like it for a while. */
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

/** Share of control characters from which on a file is no text. */
const mostControls = 0.1;
const sampleBytes = 65_536;

/** Why a file that cannot be read as the kind that its name says is of another, by its first bytes; undefined when it may not be. */
export function otherKind(bytes: Uint8Array, own: string): string | undefined {
  if (bytes.length === 0) return "is empty (0 bytes)";
  const name = signatureOf(bytes);
  if (name === own || (name === undefined && binaryReason(bytes) !== undefined)) return undefined;
  const kind = name === undefined ? "text" : `a ${name} file`;
  return `is ${kind} by its first bytes, whatever its name says: give it the ending of what it is`;
}

/**
 * Why bytes are no text, or `undefined` when they may be. Bytes of UTF-16 or UTF-32 hold NULs and are to be told apart
 * before this is asked.
 */
export function binaryReason(bytes: Uint8Array): string | undefined {
  const signature = signatureOf(bytes);
  if (signature !== undefined) return `a ${signature} file`;
  const nul = bytes.indexOf(0);
  if (nul >= 0) return `a NUL byte at ${nul}`;
  const sample = bytes.subarray(0, sampleBytes);
  const controls = sample.reduce((count, byte) => count + (isControl(byte) ? 1 : 0), 0);
  if (controls > mostControls * sample.length) {
    return `${Math.round((100 * controls) / sample.length)}% control characters`;
  }
  return undefined;
}

function signatureOf(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  return signatures.find(([, first]) => start.startsWith(first))?.[0];
}

/** Controls but backspace, white space, and the escape that coloured logs and ISO-2022 are full of. */
function isControl(byte: number): boolean {
  return (byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27) || byte === 127;
}
