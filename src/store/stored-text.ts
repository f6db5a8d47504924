/** A text as a column holds it: UTF-8, or UTF-16 bytes where UTF-8 has no way to write it. */
export type StoredText = string | Buffer;

/** SQLite keeps UTF-8, which turns half a surrogate pair into U+FFFD; such a text is kept as UTF-16 bytes instead. */
export function encodeText(text: string): StoredText {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text, "utf16le") : text;
}

export function decodeText(stored: StoredText): string {
  return typeof stored === "string" ? stored : stored.toString("utf16le");
}
