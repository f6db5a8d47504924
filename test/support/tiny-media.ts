// Media that consist of little more than headers. Sizes are real, but there are no pictures and sounds.

const u16be = (value: number) => [(value >> 8) & 255, value & 255];
const u32be = (value: number) => [...u16be(value >>> 16), ...u16be(value & 0xffff)];
const u16le = (value: number) => u16be(value).toReversed();
const u24le = (value: number) => u32be(value).slice(1).toReversed();
const u32le = (value: number) => u32be(value).toReversed();
const ascii = (text: string) => [...Buffer.from(text, "latin1")];

export function png(width: number, height: number): Buffer {
  const header = [...u32be(width), ...u32be(height), 8, 2, 0, 0, 0];
  return Buffer.from([0x89, ...ascii("PNG\r\n\x1a\n"), ...u32be(13), ...ascii("IHDR"), ...header, ...u32be(0)]);
}

export function gif(width: number, height: number): Buffer {
  return Buffer.from([...ascii("GIF89a"), ...u16le(width), ...u16le(height), 0, 0, 0, 0x3b]);
}

export function bmp(width: number, height: number): Buffer {
  const info = [...u32le(40), ...u32le(width), ...u32le(height), 1, 0, 24, 0, ...Array<number>(24).fill(0)];
  return Buffer.from([...ascii("BM"), ...u32le(54), ...u32le(0), ...u32le(54), ...info]);
}

/** WebP in its extended format. */
export function webp(width: number, height: number): Buffer {
  const extended = [0, 0, 0, 0, ...u24le(width - 1), ...u24le(height - 1)];
  return Buffer.from([
    ...ascii("RIFF"),
    ...u32le(30),
    ...ascii("WEBPVP8X"),
    ...u32le(10),
    ...extended,
    ...Array<number>(8).fill(0),
  ]);
}

/** `padding` bytes stand between the header and the directory that holds the size. */
export function tiff(width: number, height: number, padding = 0): Buffer {
  const entry = (tag: number, value: number) => [...u16le(tag), ...u16le(4), ...u32le(1), ...u32le(value)];
  const directory = [...u16le(2), ...entry(256, width), ...entry(257, height), ...u32le(0)];
  const start = [...ascii("II"), ...u16le(42), ...u32le(8 + padding)];
  return Buffer.concat([
    Buffer.from(start),
    Buffer.alloc(padding),
    Buffer.from([...directory, ...u32le(0), ...u32le(0), ...u32le(0)]),
  ]);
}

export function jpeg(width: number, height: number): Buffer {
  const frame = [0xff, 0xc0, ...u16be(17), 8, ...u16be(height), ...u16be(width), 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1];
  const application = [0xff, 0xe0, ...u16be(16), ...ascii("JFIF\0"), 1, 1, 0, 0, 1, 0, 1, 0, 0];
  return Buffer.from([0xff, 0xd8, ...application, ...frame, 0xff, 0xd9]);
}

/** Silence: 8,000 samples a second of one byte. */
export function wav(seconds: number): Buffer {
  const rate = 8000;
  const size = Math.round(seconds * rate);
  const format = [...u16le(1), ...u16le(1), ...u32le(rate), ...u32le(rate), ...u16le(1), ...u16le(8)];
  const header = [...ascii("RIFF"), ...u32le(36 + size), ...ascii("WAVEfmt "), ...u32le(16), ...format];
  return Buffer.concat([Buffer.from([...header, ...ascii("data"), ...u32le(size)]), Buffer.alloc(size, 128)]);
}

export interface Film {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly framesPerSecond: number;
  /** Default: `isom`, an MP4; `qt  ` makes a QuickTime film. */
  readonly brand?: string;
  /** Bytes of picture data before the header, as in files from cameras. Default: 16. */
  readonly dataBytes?: number;
}

/** One track of H.264 frames of one byte each. */
export function film({ width, height, seconds, framesPerSecond, brand = "isom", dataBytes = 16 }: Film): Buffer {
  const timescale = Math.round(framesPerSecond * 1000);
  const frames = Math.round(seconds * framesPerSecond);
  const duration = frames * 1000;
  const matrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].flatMap(u32be);
  const zeros = (count: number) => Array<number>(count).fill(0);
  const avcC = box("avcC", [
    1,
    0x42,
    0,
    0x1e,
    0xff,
    0xe1,
    ...u16be(4),
    0x67,
    0x42,
    0,
    0x1e,
    1,
    ...u16be(2),
    0x68,
    0xce,
  ]);
  const picture = [...zeros(6), ...u16be(1), ...zeros(16), ...u16be(width), ...u16be(height), ...u32be(0x480000)];
  const avc1 = box("avc1", [
    ...picture,
    ...u32be(0x480000),
    ...u32be(0),
    ...u16be(1),
    ...zeros(32),
    ...u16be(24),
    0xff,
    0xff,
    ...avcC,
  ]);
  const ftyp = box("ftyp", [...ascii(brand), ...u32be(512), ...ascii(brand)]);
  const mdat = box("mdat", zeros(dataBytes));
  const table = [
    ...box("stsd", [...u32be(0), ...u32be(1), ...avc1]),
    ...box("stts", [...u32be(0), ...u32be(1), ...u32be(frames), ...u32be(1000)]),
    ...box("stsc", [...u32be(0), ...u32be(1), ...u32be(1), ...u32be(frames), ...u32be(1)]),
    ...box("stsz", [...u32be(0), ...u32be(1), ...u32be(frames)]),
    ...box("stco", [...u32be(0), ...u32be(1), ...u32be(ftyp.length + 8)]),
  ];
  const reference = box("dref", [...u32be(0), ...u32be(1), ...box("url ", u32be(1))]);
  const media = [...box("vmhd", [...u32be(1), ...zeros(8)]), ...box("dinf", reference), ...box("stbl", table)];
  const mdhd = box("mdhd", [...zeros(12), ...u32be(timescale), ...u32be(duration), ...u16be(0x55c4), 0, 0]);
  const hdlr = box("hdlr", [...zeros(8), ...ascii("vide"), ...zeros(12), 0]);
  const tkhd = box("tkhd", [
    ...u32be(3),
    ...zeros(8),
    ...u32be(1),
    ...zeros(4),
    ...u32be(duration),
    ...zeros(16),
    ...matrix,
    ...u32be(width * 65_536),
    ...u32be(height * 65_536),
  ]);
  const trak = box("trak", [...tkhd, ...box("mdia", [...mdhd, ...hdlr, ...box("minf", media)])]);
  const mvhd = box("mvhd", [
    ...zeros(12),
    ...u32be(timescale),
    ...u32be(duration),
    ...u32be(0x10000),
    ...u16be(0x100),
    ...zeros(10),
    ...matrix,
    ...zeros(24),
    ...u32be(2),
  ]);
  return Buffer.concat([Buffer.from(ftyp), Buffer.from(mdat), Buffer.from(box("moov", [...mvhd, ...trak]))]);
}

function box(type: string, content: readonly number[]): number[] {
  return [...u32be(content.length + 8), ...ascii(type), ...content];
}

export function dataUrl(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}
