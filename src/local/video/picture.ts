/** Luma and the two chroma values, 16 to 240: the range of television. */
export type Colour = readonly [luma: number, blue: number, red: number];

const bandCount = 8;

/**
 * The colours of a second of a video, as bands from top to bottom: a gradient that content and seed decide, and that
 * moves up by one band a second. Pure.
 */
export function bands(contentHash: number, seed: number, second: number): readonly Colour[] {
  const hue = ((contentHash ^ Math.imul(seed, 0x9e3779b1)) >>> 0) / 2 ** 32;
  return Array.from({ length: bandCount }, (_, band) => {
    const step = ((band + second) % bandCount) / bandCount;
    const angle = 2 * Math.PI * (hue + step / 3);
    return [
      Math.round(60 + 150 * step),
      Math.round(128 + 60 * Math.cos(angle)),
      Math.round(128 + 60 * Math.sin(angle)),
    ] as const;
  });
}

/** Red, green and blue of a colour, 0 to 255 each (ITU-R BT.601). Pure. */
export function toRgb([luma, blue, red]: Colour): readonly [number, number, number] {
  const light = 1.164 * (luma - 16);
  const limit = (value: number) => Math.max(0, Math.min(255, Math.round(value)));
  return [
    limit(light + 1.596 * (red - 128)),
    limit(light - 0.813 * (red - 128) - 0.392 * (blue - 128)),
    limit(light + 2.017 * (blue - 128)),
  ];
}
