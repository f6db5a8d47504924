import type { FrameSize } from "./frame-size.js";
import type { ParameterSets } from "./h264.js";

// ISO/IEC 14496-12 (boxes), 14496-14 (MP4), 14496-15 (H.264 in it). Each track is one chunk. Numbers in boxes are words
// of 32 bits; two fields of 16 bits stand in one word.

export interface Mp4Film {
  readonly size: FrameSize;
  readonly framesPerSecond: number;
  readonly parameterSets: ParameterSets;
  /** Pictures, one NAL unit each. */
  readonly pictures: readonly { readonly bytes: Buffer; readonly intra: boolean }[];
  /** Whether there is a sound track; it is silent. */
  readonly sound: boolean;
}

const movieTimescale = 1000;
const sampleRate = 48_000;
const samplesPerFrame = 1024;
/** AAC-LC, one channel, no spectral data: gain 0, no bands, end of block. */
const silentFrame = Buffer.from([0, 0, 0, 7]);
/** The decoder's configuration in nested descriptors: AAC-LC, 48 kHz, one channel (ISO/IEC 14496-3, 1.6.2.1). */
const audioDescriptors = Buffer.from("031900020004114015000000000000000000000005021188060102", "hex");

const noRotation = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
const undeterminedLanguage = 0x55c40000;

/** The file, its index before its media. */
export function mp4File({ size, framesPerSecond, parameterSets, pictures, sound }: Mp4Film): Buffer {
  const samples = pictures.map(({ bytes }) => Buffer.concat([words(bytes.length), bytes]));
  const video = Buffer.concat(samples);
  const seconds = pictures.length / framesPerSecond;
  const audioFrames = sound ? Math.floor((seconds * sampleRate) / samplesPerFrame) : 0;
  const duration = Math.round(seconds * movieTimescale);
  const fileType = box("ftyp", Buffer.from("isom"), 512, Buffer.from("isomiso2avc1mp41"));
  const index = (start: number) => {
    const videoTrack = track({
      id: 1,
      duration,
      volume: 0,
      size,
      timescale: framesPerSecond,
      ticksPerSample: 1,
      handler: "vide",
      mediaHeader: box("vmhd", 1, 0, 0),
      entry: videoEntry(size, parameterSets),
      sampleCount: samples.length,
      sampleSizes: [0, samples.length, ...samples.map(({ length }) => length)],
      syncSamples: pictures.flatMap(({ intra }, position) => (intra ? [position + 1] : [])),
      start,
    });
    const soundTrack = track({
      id: 2,
      duration,
      volume: 0x1000000,
      size: { width: 0, height: 0 },
      timescale: sampleRate,
      ticksPerSample: samplesPerFrame,
      handler: "soun",
      mediaHeader: box("smhd", 0, 0),
      entry: soundEntry,
      sampleCount: audioFrames,
      sampleSizes: [silentFrame.length, audioFrames],
      start: start + video.length,
    });
    const tracks = sound ? [videoTrack, soundTrack] : [videoTrack];
    const times = [0, 0, 0, movieTimescale, duration];
    const header = box("mvhd", ...times, 0x10000, 0x1000000, 0, 0, ...noRotation, ...zeros(6), tracks.length + 1);
    return box("moov", header, ...tracks);
  };
  const mediaStart = fileType.length + index(0).length + 8;
  const audio = Buffer.alloc(audioFrames * silentFrame.length, silentFrame);
  return Buffer.concat([fileType, index(mediaStart), box("mdat", video, audio)]);
}

function videoEntry({ width, height }: FrameSize, { sequence, picture }: ParameterSets): Buffer {
  const sets = [Buffer.of(0xff, 0xe1), lengthed(sequence), Buffer.of(1), lengthed(picture)];
  const configuration = box("avcC", Buffer.of(1), sequence.subarray(1, 4), ...sets);
  const resolution = [0x480000, 0x480000];
  const shape = [0, 1, ...zeros(4), width * 0x10000 + height, ...resolution, 0, 0x10000, ...zeros(7), 24];
  return box("avc1", ...shape, Buffer.of(0xff, 0xff), configuration);
}

const soundEntry = box("mp4a", 0, 1, 0, 0, 0x10010, 0, sampleRate * 0x10000, box("esds", 0, audioDescriptors));

interface Track {
  readonly id: number;
  /** Duration in the movie's timescale. */
  readonly duration: number;
  /** Fixed-point 8.8, in the upper half of a word. */
  readonly volume: number;
  readonly size: FrameSize;
  readonly timescale: number;
  /** Duration of a sample in the track's timescale. */
  readonly ticksPerSample: number;
  readonly handler: "vide" | "soun";
  readonly mediaHeader: Buffer;
  readonly entry: Buffer;
  readonly sampleCount: number;
  /** One size for all, or 0; the count; each size when they differ. */
  readonly sampleSizes: readonly number[];
  /** Numbers of the samples that need no other, when not all do without. */
  readonly syncSamples?: readonly number[];
  /** Place of the first sample in the file. */
  readonly start: number;
}

function track({ id, duration, volume, size, timescale, mediaHeader, sampleCount, ...media }: Track): Buffer {
  const times = [3, 0, 0, id, 0, duration];
  const frame = [size.width * 0x10000, size.height * 0x10000];
  const table = box(
    "stbl",
    box("stsd", 0, 1, media.entry),
    box("stts", 0, 1, sampleCount, media.ticksPerSample),
    ...(media.syncSamples ? [box("stss", 0, media.syncSamples.length, ...media.syncSamples)] : []),
    box("stsc", 0, 1, 1, sampleCount, 1),
    box("stsz", 0, ...media.sampleSizes),
    box("stco", 0, 1, media.start),
  );
  return box(
    "trak",
    box("tkhd", ...times, 0, 0, 0, volume, ...noRotation, ...frame),
    box(
      "mdia",
      box("mdhd", 0, 0, 0, timescale, sampleCount * media.ticksPerSample, undeterminedLanguage),
      box("hdlr", 0, 0, Buffer.from(media.handler), 0, 0, 0, Buffer.of(0)),
      box("minf", mediaHeader, box("dinf", box("dref", 0, 1, box("url ", 1))), table),
    ),
  );
}

function box(name: string, ...parts: readonly (Buffer | number)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === "number" ? words(part) : part)));
  return Buffer.concat([words(8 + content.length), Buffer.from(name, "latin1"), content]);
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/** Bytes behind their length in 16 bits. */
function lengthed(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
}

function zeros(count: number): readonly number[] {
  return Array.from({ length: count }, () => 0);
}
