import type { Pixels } from "./png-pixels.js";

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

/** Pixels that are looked at, at most: a share of a hundredth is still counted to a tenth of itself. */
const mostLooks = 10_000;
const leastShare = 0.1;
const mostNames = 3;

/** Names of the colours that cover at least a tenth of an image each, the largest share first; three at most. Pure. */
export function dominantColours({ rgb }: Pixels): readonly string[] {
  const pixels = rgb.length / 3;
  const step = Math.max(1, Math.floor(pixels / mostLooks));
  const counts = new Map<string, number>();
  let looks = 0;
  for (let pixel = 0; pixel < pixels; pixel += step) {
    const name = nearestName(rgb[3 * pixel] ?? 0, rgb[3 * pixel + 1] ?? 0, rgb[3 * pixel + 2] ?? 0);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    looks++;
  }
  return [...counts]
    .filter(([, count]) => count >= leastShare * looks)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, mostNames)
    .map(([name]) => name);
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
