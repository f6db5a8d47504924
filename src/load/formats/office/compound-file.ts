/** First bytes of the container that files of Office 97 to 2003, and encrypted ones of today, are. */
const signature = Buffer.from("d0cf11e0a1b11ae1", "hex");

export function isCompoundFile(bytes: Uint8Array): boolean {
  return signature.equals(bytes.subarray(0, signature.length));
}

/** Sectors of the allocation table that the header lists itself. */
const listedInHeader = 109;
/** Greater values in a chain are marks: its end, or a free sector. */
const maxSector = 0xff_ff_ff_f9;

/**
 * Whether a chain of sectors leads back into itself, in the table of large or of small sectors: readers would follow it for
 * ever. Each entry of a table is visited once. https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb
 */
export function hasCircularChain(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < 512) return false;
  const sectorBytes = 2 ** Math.min(16, Math.max(7, file.readUInt16LE(30)));
  const entriesOf = (sector: number): number[] => {
    const start = (sector + 1) * sectorBytes;
    const count = Math.max(0, Math.floor((Math.min(file.length, start + sectorBytes) - start) / 4));
    return Array.from({ length: count }, (_, index) => file.readUInt32LE(start + 4 * index));
  };
  const tableSectors = Array.from({ length: listedInHeader }, (_, index) => file.readUInt32LE(76 + 4 * index));
  const lists = new Set<number>();
  for (let list = file.readUInt32LE(68); list <= maxSector && (list + 1) * sectorBytes < file.length;) {
    if (lists.has(list)) return true;
    lists.add(list);
    const entries = entriesOf(list);
    list = entries.pop() ?? maxSector + 1;
    tableSectors.push(...entries);
  }
  const inFile = new Set(tableSectors.filter((sector) => sector <= maxSector));
  const table = [...inFile].flatMap(entriesOf);
  if (leadsBack(table)) return true;
  const smallTable: number[] = [];
  for (let position = file.readUInt32LE(60); position < table.length; position = table[position]!)
    smallTable.push(...entriesOf(position));
  return leadsBack(smallTable);
}

function leadsBack(next: readonly number[]): boolean {
  const walkOf = new Uint32Array(next.length);
  for (let start = 0; start < next.length; start++) {
    let index = start;
    for (; index < next.length && walkOf[index] === 0; index = next[index]!) walkOf[index] = start + 1;
    if (index < next.length && walkOf[index] === start + 1) return true;
  }
  return false;
}
