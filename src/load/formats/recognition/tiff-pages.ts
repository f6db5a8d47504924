/**
 * The pages of a TIFF, each as a TIFF that begins with it: readers take the first page alone. What is no plain TIFF, or
 * damaged, is one page.
 *
 * @param maxPages further ones are left out
 */
export function tiffPages(bytes: Uint8Array, maxPages: number): Uint8Array[] {
  const file = Buffer.from(bytes);
  const isLittle = file.toString("latin1", 0, 2) === "II";
  const number = (index: number, size: 2 | 4) => {
    if (index + size > file.length) return 0;
    return isLittle ? file.readUIntLE(index, size) : file.readUIntBE(index, size);
  };
  // BigTIFF has 43 here, and other offsets.
  if (number(2, 2) !== 42) return [bytes];
  const seen = new Set<number>();
  for (let position = number(4, 4); position !== 0 && !seen.has(position) && seen.size < maxPages;) {
    seen.add(position);
    // A directory has entries of twelve bytes, and the offset of the next.
    position = number(position + 2 + 12 * number(position, 2), 4);
  }
  return [...seen].map((offset) => {
    const page = Buffer.from(file);
    if (isLittle) page.writeUInt32LE(offset, 4);
    else page.writeUInt32BE(offset, 4);
    return page;
  });
}
