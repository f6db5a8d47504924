/**
 * The pages of a TIFF, each as a TIFF that begins with it: readers take the first page alone. What is no plain TIFF, or
 * damaged, is one page.
 *
 * @param maxPages further ones are left out
 */
export function tiffPages(bytes: Uint8Array, maxPages: number): Uint8Array[] {
  const file = Buffer.from(bytes);
  const isLittle = file.toString("latin1", 0, 2) === "II";
  const number = (at: number, size: 2 | 4) => {
    if (at + size > file.length) return 0;
    return isLittle ? file.readUIntLE(at, size) : file.readUIntBE(at, size);
  };
  // BigTIFF has 43 here, and other offsets.
  if (number(2, 2) !== 42) return [bytes];
  const seen = new Set<number>();
  for (let at = number(4, 4); at !== 0 && !seen.has(at) && seen.size < maxPages;) {
    seen.add(at);
    // A directory has entries of twelve bytes, and the offset of the next.
    at = number(at + 2 + 12 * number(at, 2), 4);
  }
  return [...seen].map((at) => {
    const page = Buffer.from(file);
    if (isLittle) page.writeUInt32LE(at, 4);
    else page.writeUInt32BE(at, 4);
    return page;
  });
}
