import type { FrameSize } from "./frame-size.js";
import type { ParameterSets } from "./h264.js";

// ISO/IEC 14496-12 (boxes), 14496-14 (MP4), 14496-15 (H.264 in it). All of a track is one chunk.

export interface Mp4Film {
  readonly size: FrameSize;
  readonly framesPerSecond: number;
  readonly parameterSets: ParameterSets;
  /** One NAL unit each. */
  readonly pictures: readonly { readonly bytes: Buffer; readonly intra: boolean }[];
  /** Whether there is a sound track; it is silent. */
  readonly sound: boolean;
}

const movieTimescale = 1000;
const sampleRate = 48_000;
const samplesPerFrame = 1024;
/** AAC-LC, one channel, no spectral data: gain 0, no bands, end of block. */
const silentFrame = Buffer.from([0, 0, 0, 7]);
/** What the frames are: AAC-LC, 48 kHz, one channel (ISO/IEC 14496-3, 1.6.2.1). */
const audioConfiguration = Buffer.from([0x11, 0x88]);

/** The file, its index before its media. */
export function mp4File(film: Mp4Film): Buffer {
  const samples = film.pictures.map(({ bytes }) => Buffer.concat([u32(bytes.length), bytes]));
  const video = Buffer.concat(samples);
  const seconds = film.pictures.length / film.framesPerSecond;
  const audioFrames = film.sound ? Math.floor((seconds * sampleRate) / samplesPerFrame) : 0;
  const audio = Buffer.concat(Array.from({ length: audioFrames }, () => silentFrame));
  const fileType = box("ftyp", Buffer.from("isom"), u32(512), Buffer.from("isomiso2avc1mp41"));
  const index = (start: number) =>
    movie(film, {
      seconds,
      sizes: samples.map(({ length }) => length),
      audioFrames,
      start,
      audioStart: start + video.length,
    });
  const mediaStart = fileType.length + index(0).length + 8;
  return Buffer.concat([fileType, index(mediaStart), box("mdat", video, audio)]);
}

interface Layout {
  readonly seconds: number;
  /** Of the pictures, in bytes. */
  readonly sizes: readonly number[];
  readonly audioFrames: number;
  /** Where the chunks begin in the file. */
  readonly start: number;
  readonly audioStart: number;
}

function movie(film: Mp4Film, layout: Layout): Buffer {
  const duration = Math.round(layout.seconds * movieTimescale);
  const header = full(
    "mvhd",
    0,
    0,
    u32(0, 0, movieTimescale, duration, 0x10000),
    u16(0x100, 0),
    u32(0, 0),
    matrix,
    u32(0, 0, 0, 0, 0, 0, film.sound ? 3 : 2),
  );
  const tracks = [videoTrack(film, layout, duration), ...(film.sound ? [soundTrack(layout, duration)] : [])];
  return box("moov", header, ...tracks);
}

function videoTrack(
  { size, framesPerSecond, parameterSets, pictures }: Mp4Film,
  layout: Layout,
  duration: number,
): Buffer {
  const { width, height } = size;
  const { sequence, picture } = parameterSets;
  const configuration = box(
    "avcC",
    Buffer.from([1]),
    sequence.subarray(1, 4),
    Buffer.from([0xff, 0xe1]),
    u16(sequence.length),
    sequence,
    Buffer.from([1]),
    u16(picture.length),
    picture,
  );
  const entry = box(
    "avc1",
    Buffer.alloc(6),
    u16(1),
    Buffer.alloc(16),
    u16(width, height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    configuration,
  );
  const intra = pictures.flatMap((one, at) => (one.intra ? [at + 1] : []));
  return track({
    id: 1,
    duration,
    header: [u32(width * 0x10000, height * 0x10000)],
    volume: 0,
    timescale: framesPerSecond,
    mediaDuration: pictures.length,
    handler: "vide",
    mediaHeader: full("vmhd", 0, 1, u16(0, 0, 0, 0)),
    table: [
      full("stsd", 0, 0, u32(1), entry),
      full("stts", 0, 0, u32(1, pictures.length, 1)),
      full("stss", 0, 0, u32(intra.length, ...intra)),
      full("stsc", 0, 0, u32(1, 1, pictures.length, 1)),
      full("stsz", 0, 0, u32(0, pictures.length, ...layout.sizes)),
      full("stco", 0, 0, u32(1, layout.start)),
    ],
  });
}

function soundTrack({ audioFrames, audioStart }: Layout, duration: number): Buffer {
  const specific = descriptor(5, audioConfiguration);
  const decoder = descriptor(4, Buffer.from([0x40, 0x15, 0, 0, 0]), u32(0, 0), specific);
  const elementary = full(
    "esds",
    0,
    0,
    descriptor(3, u16(2), Buffer.from([0]), decoder, descriptor(6, Buffer.from([2]))),
  );
  const entry = box(
    "mp4a",
    Buffer.alloc(6),
    u16(1),
    u32(0, 0),
    u16(1, 16, 0, 0),
    u32(sampleRate * 0x10000),
    elementary,
  );
  return track({
    id: 2,
    duration,
    header: [u32(0, 0)],
    volume: 0x100,
    timescale: sampleRate,
    mediaDuration: audioFrames * samplesPerFrame,
    handler: "soun",
    mediaHeader: full("smhd", 0, 0, u16(0, 0)),
    table: [
      full("stsd", 0, 0, u32(1), entry),
      full("stts", 0, 0, u32(1, audioFrames, samplesPerFrame)),
      full("stsc", 0, 0, u32(1, 1, audioFrames, 1)),
      full("stsz", 0, 0, u32(silentFrame.length, audioFrames)),
      full("stco", 0, 0, u32(1, audioStart)),
    ],
  });
}

interface Track {
  readonly id: number;
  /** In the movie's timescale. */
  readonly duration: number;
  /** Width and height, as 16.16. */
  readonly header: readonly Buffer[];
  readonly volume: number;
  readonly timescale: number;
  /** In the track's own timescale. */
  readonly mediaDuration: number;
  readonly handler: "vide" | "soun";
  readonly mediaHeader: Buffer;
  readonly table: readonly Buffer[];
}

function track({ id, duration, header, volume, timescale, mediaDuration, handler, mediaHeader, table }: Track): Buffer {
  // Enabled, in the movie.
  const trackHeader = full("tkhd", 0, 3, u32(0, 0, id, 0, duration, 0, 0), u16(0, 0, volume, 0), matrix, ...header);
  const undetermined = 0x55c4;
  const data = full("dref", 0, 0, u32(1), full("url ", 0, 1));
  const media = box(
    "mdia",
    full("mdhd", 0, 0, u32(0, 0, timescale, mediaDuration), u16(undetermined, 0)),
    full("hdlr", 0, 0, u32(0), Buffer.from(handler), u32(0, 0, 0), Buffer.from("\0")),
    box("minf", mediaHeader, box("dinf", data), box("stbl", ...table)),
  );
  return box("trak", trackHeader, media);
}

/** No turn, no scaling. */
const matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

function box(name: string, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(8 + content.length), Buffer.from(name, "latin1"), content]);
}

function full(name: string, version: number, flags: number, ...parts: readonly Buffer[]): Buffer {
  return box(name, u32(version * 0x1000000 + flags), ...parts);
}

function descriptor(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, content.length]), content]);
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt16BE(value, 2 * at);
  return bytes;
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at);
  return bytes;
}
