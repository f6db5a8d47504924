import { imageFacts } from "../../media/image-header.js";
import type { MediaFacts } from "../../contract/media.js";

/** Facts about the medium in a `data:` address; `undefined` for other addresses, which are not fetched. Pure. */
export function dataFacts(kind: "image" | "audio", url: string): MediaFacts | undefined {
  const written = /^data:[a-z]+\/([a-z0-9]+);base64,/.exec(url);
  const [start, declaredFormat] = written ?? [];
  if (start === undefined || declaredFormat === undefined) return undefined;
  const bytes = Buffer.from(url.slice(start.length), "base64");
  const facts = kind === "audio" ? (wav(bytes) ?? mp3(bytes) ?? { format: "unknown" }) : imageFacts(bytes);
  return { sizeBytes: bytes.length, declaredFormat, ...facts };
}

function wav(bytes: Buffer): MediaFacts | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let bytesPerSecond = 0;
  for (let index = 12; index + 8 <= bytes.length;) {
    const name = bytes.toString("latin1", index, index + 4);
    const size = bytes.readUInt32LE(index + 4);
    if (name === "fmt " && index + 20 <= bytes.length) bytesPerSecond = bytes.readUInt32LE(index + 16);
    if (name === "data") {
      // Encoders that write to a pipe say 0 or the largest number.
      const data = Math.min(size === 0 ? Number.POSITIVE_INFINITY : size, bytes.length - index - 8);
      return { format: "wav", ...(bytesPerSecond > 0 && { durationSeconds: data / bytesPerSecond }) };
    }
    index += 8 + size + (size % 2);
  }
  return { format: "wav" };
}

/** Kilobits a second of layer III by the header's four bits: of MPEG 1, and of MPEG 2 and 2.5. */
const bitRates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const sampleRates = [44_100, 48_000, 32_000] as const;
/** Divisors of the rates, by the header's two bits of version: 2.5, reserved, 2, 1. */
const rateDivisors = [4, 0, 2, 1] as const;

/** Walks the frames: a rate that varies is counted right. */
function mp3(bytes: Buffer): MediaFacts | undefined {
  let position = 0;
  if (bytes.toString("latin1", 0, 3) === "ID3" && bytes.length >= 10) {
    // Four bytes of seven bits each.
    const size = [6, 7, 8, 9].reduce((sum, index) => sum * 128 + (bytes.readUInt8(index) & 0x7f), 0);
    position = 10 + size + ((bytes.readUInt8(5) & 0x10) === 0 ? 0 : 10);
  }
  let seconds = 0;
  let frames = 0;
  while (position + 4 <= bytes.length) {
    const frame = mp3Frame(bytes.readUInt32BE(position));
    if (frame === undefined) break;
    seconds += frame.seconds;
    frames++;
    position += frame.length;
  }
  return frames === 0 ? undefined : { format: "mp3", durationSeconds: seconds };
}

function mp3Frame(header: number): { readonly length: number; readonly seconds: number } | undefined {
  const version = (header >>> 19) & 3;
  const layerThree = ((header >>> 17) & 3) === 1;
  const divisor = rateDivisors[version];
  if (header >>> 21 !== 0x7ff || !layerThree || divisor === undefined || divisor === 0) return undefined;
  const bitRate = bitRates[divisor === 1 ? 0 : 1][(header >>> 12) & 15];
  const fullRate = sampleRates[(header >>> 10) & 3];
  if (bitRate === undefined || bitRate === 0 || fullRate === undefined) return undefined;
  const sampleRate = fullRate / divisor;
  const samples = divisor === 1 ? 1152 : 576;
  const padding = (header >>> 9) & 1;
  return { length: Math.floor((samples * 125 * bitRate) / sampleRate) + padding, seconds: samples / sampleRate };
}
