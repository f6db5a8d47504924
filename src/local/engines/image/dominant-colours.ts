const named: readonly (readonly [name: string, red: number, green: number, blue: number])[] = [
  ["black", 0, 0, 0],
  ["white", 255, 255, 255],
  ["grey", 128, 128, 128],
  ["red", 220, 30, 30],
  ["orange", 255, 150, 0],
  ["yellow", 250, 230, 40],
  ["green", 30, 160, 60],
  ["cyan", 30, 200, 220],
  ["blue", 30, 70, 220],
  ["purple", 130, 40, 170],
  ["pink", 250, 150, 190],
  ["brown", 120, 70, 30],
];

/** Pixels in the largest image that is unpacked: what cameras make, and no bomb. */
const maxPixels = 50_000_000;
/** Sides that an image is shrunk to: a share of a hundredth is still counted to a tenth of itself. */
const side = 100;
const minShare = 0.1;
const maxNames = 3;

/**
 * Names of the colours that cover at least a tenth of a still, or of the first frame, the largest share first; three at
 * most, none for a damaged or very large file. `missing` where the package `sharp` is not installed. Give it only files
 * whose first bytes were recognised: sharp would read other formats, too, and some of them name files.
 */
export async function dominantColours(file: Buffer): Promise<readonly string[] | "missing"> {
  const sharp = await loadSharp();
  if (sharp === undefined) return "missing";
  let rgb: Buffer;
  try {
    const { data, info } = await sharp(file, { limitInputPixels: maxPixels })
      .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true, kernel: "nearest" })
      .toColourspace("srgb")
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    rgb = info.channels === 3 ? data : Buffer.alloc(0);
  } catch {
    // Cut off, damaged, or too large.
    return [];
  }
  const pixels = rgb.length / 3;
  const counts = new Map<string, number>();
  for (let pixel = 0; pixel < pixels; pixel++) {
    const name = nearestName(rgb[3 * pixel] ?? 0, rgb[3 * pixel + 1] ?? 0, rgb[3 * pixel + 2] ?? 0);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count >= minShare * pixels)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, maxNames)
    .map(([name]) => name);
}

async function loadSharp() {
  try {
    return (await import("sharp")).default;
  } catch {
    return undefined;
  }
}

function nearestName(red: number, green: number, blue: number): string {
  let best = "";
  let least = Number.POSITIVE_INFINITY;
  for (const [name, r, g, b] of named) {
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2;
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}
