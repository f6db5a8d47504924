/** Data addresses of the smallest files that say what the rules ask about. */

export function pngUrl(width: number, height: number, sizeBytes = 33): string {
  const bytes = Buffer.alloc(sizeBytes);
  bytes.set(Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return dataUrl("image/png", bytes);
}

export function gifUrl(width: number, height: number): string {
  const bytes = Buffer.from("GIF89a\0\0\0\0\0\0\0;", "latin1");
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return dataUrl("image/gif", bytes);
}

export function bmpUrl(width: number, height: number): string {
  const bytes = Buffer.alloc(54);
  bytes.write("BM");
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(-height, 22);
  return dataUrl("image/bmp", bytes);
}

export function webpUrl(width: number, height: number): string {
  const bytes = Buffer.alloc(30);
  bytes.write("RIFF\0\0\0\0WEBPVP8X", "latin1");
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return dataUrl("image/webp", bytes);
}

export function jpegUrl(width: number, height: number): string {
  const jfif = [0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0];
  const bytes = Buffer.from([0xff, 0xd8, ...jfif, 0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  bytes.writeUInt16BE(height, 25);
  bytes.writeUInt16BE(width, 27);
  return dataUrl("image/jpeg", bytes);
}

export function tiffUrl(width: number, height: number, mark: "II" | "MM" = "II"): string {
  const bytes = Buffer.alloc(38);
  const write = (value: number, at: number, length: number) =>
    mark === "II" ? bytes.writeUIntLE(value, at, length) : bytes.writeUIntBE(value, at, length);
  bytes.write(mark);
  write(42, 2, 2);
  write(8, 4, 4);
  write(2, 8, 2);
  for (const [entry, tag, type, value] of [
    [0, 256, 4, width],
    [1, 257, 3, height],
  ] as const) {
    const at = 10 + 12 * entry;
    write(tag, at, 2);
    write(type, at + 2, 2);
    write(1, at + 4, 4);
    write(value, at + 8, type === 3 ? 2 : 4);
  }
  return dataUrl("image/tiff", bytes);
}

/** A hundred bytes a second, unless it is to be larger. */
export function wavUrl(seconds: number, sizeBytes?: number): string {
  const data = sizeBytes === undefined ? Math.round(100 * seconds) : sizeBytes - 44;
  const bytes = Buffer.alloc(44 + data);
  bytes.write("RIFF\0\0\0\0WAVEfmt ", "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt32LE(Math.round(data / seconds), 28);
  bytes.write("data", 36);
  bytes.writeUInt32LE(data, 40);
  return dataUrl("audio/wav", bytes);
}

/** Frames of 24 ms at 48 kHz and 32 kbit/s. */
export function mp3Url(seconds: number): string {
  const frame = Buffer.alloc(96);
  frame.set([0xff, 0xfb, 0x14, 0xc0]);
  return dataUrl("audio/mp3", Buffer.concat(Array.from({ length: Math.round(seconds / 0.024) }, () => frame)));
}

function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString("base64")}`;
}
