import { open, type FileHandle } from "node:fs/promises";
import { endianness } from "node:os";
import { z } from "zod";
import { OptionsError } from "../../../core/errors.js";

/**
 * Longest header that is read, in bytes, as in the format's own reader:
 * https://github.com/huggingface/safetensors/blob/main/safetensors/src/tensor.rs
 */
const maxHeaderBytes = 100_000_000;

const lengthBytes = 8;

const Tensor = z.object({
  dtype: z.string(),
  shape: z.array(z.int().min(0)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});

/** Numbers of a tensor, by what the format calls their type. */
const arrays = {
  F64: Float64Array,
  F32: Float32Array,
  // Halves are kept as they are stored: `halfValues` reads them.
  F16: Uint16Array,
  BF16: Uint16Array,
  I64: BigInt64Array,
  I32: Int32Array,
  U32: Uint32Array,
  I16: Int16Array,
  U16: Uint16Array,
  I8: Int8Array,
  U8: Uint8Array,
} as const;

export type TensorType = keyof typeof arrays;
export type TensorNumbers = InstanceType<(typeof arrays)[TensorType]>;

/** One tensor: `shape` multiplied out is the number of its numbers, row after row. */
export interface StoredTensor {
  readonly type: TensorType;
  readonly shape: readonly number[];
  readonly numbers: TensorNumbers;
}

/** The tensors of a file, of which each is read when it is asked for. */
export interface TensorFile {
  readonly names: readonly string[];
  /** @throws OptionsError (`config`), as `read` does. */
  readonly shapeOf: (name: string) => readonly number[];
  /** @throws OptionsError (`config`) for one of a type that is not known, or whose place in the file cannot be. */
  readonly read: (name: string) => Promise<StoredTensor>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a file of tensors (https://huggingface.co/docs/safetensors#format): the length of a header, the header as JSON, and
 * the numbers behind it, least byte first.
 *
 * @throws OptionsError (`config`) when it cannot be read or is no such file.
 */
export async function openTensors(path: string): Promise<TensorFile> {
  const file = await open(path).catch((cause: unknown) => {
    throw new OptionsError("config", `${path} cannot be read: ${(cause as Error).message}`, { cause });
  });
  try {
    const { size } = await file.stat();
    const start = lengthBytes + headerLength(path, await bytesAt(file, 0, Math.min(lengthBytes, size)), size);
    const header = parseHeader(path, await bytesAt(file, lengthBytes, start - lengthBytes));
    const describe = (name: string) => checked(path, name, header.get(name), size - start);
    return {
      names: [...header.keys()],
      shapeOf: (name) => describe(name).shape,
      read: async (name) => {
        const { type, shape, place } = describe(name);
        const numbers = new arrays[type](shape.reduce((product, count) => product * count, 1));
        await fill(file, new Uint8Array(numbers.buffer), start + place);
        if (endianness() === "BE") swapBytes(numbers);
        return { type, shape, numbers };
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function headerLength(path: string, bytes: Buffer, size: number): number {
  if (bytes.length < lengthBytes) throw damaged(path, `is ${size} bytes long, shorter than its own length field`);
  const length = Number(bytes.readBigUInt64LE(0));
  if (length > maxHeaderBytes || length > size - lengthBytes) {
    throw damaged(path, `says that its header has ${length} bytes, and the file has ${size}`);
  }
  return length;
}

function parseHeader(path: string, bytes: Buffer): ReadonlyMap<string, unknown> {
  try {
    const { __metadata__: _, ...entries } = z.record(z.string(), z.unknown()).parse(JSON.parse(bytes.toString("utf8")));
    return new Map(Object.entries(entries));
  } catch (cause) {
    throw damaged(path, "has a header that is no JSON object", cause);
  }
}

function checked(path: string, name: string, entry: unknown, dataBytes: number) {
  const parsed = Tensor.safeParse(entry);
  if (!parsed.success)
    throw damaged(path, `describes its tensor "${name}" without type, shape and place`, parsed.error);
  const { dtype, shape, data_offsets } = parsed.data;
  const [begin, end] = data_offsets;
  if (!Object.hasOwn(arrays, dtype)) {
    throw damaged(path, `has its tensor "${name}" in ${dtype}: known are ${Object.keys(arrays).join(", ")}`);
  }
  const type = dtype as TensorType;
  const bytes = shape.reduce((product, count) => product * count, arrays[type].BYTES_PER_ELEMENT);
  if (end > dataBytes)
    throw damaged(path, `ends before its tensor "${name}" does: ${dataBytes} of ${end} bytes are there`);
  if (end - begin !== bytes) {
    throw damaged(
      path,
      `has ${end - begin} bytes for its tensor "${name}" of ${shape.join(" × ")} ${dtype}, not ${bytes}`,
    );
  }
  return { type, shape, place: begin };
}

async function bytesAt(file: FileHandle, index: number, count: number): Promise<Buffer> {
  const bytes = Buffer.alloc(count);
  await fill(file, bytes, index);
  return bytes;
}

/** One read takes at most 2 GB: https://nodejs.org/api/fs.html (the limit is that of the system's call). */
const maxReadBytes = 1 << 30;

async function fill(file: FileHandle, target: Uint8Array, index: number): Promise<void> {
  for (let done = 0; done < target.length;) {
    const count = Math.min(maxReadBytes, target.length - done);
    const { bytesRead } = await file.read(target, done, count, index + done);
    if (bytesRead === 0) throw new OptionsError("config", "A file of tensors became shorter while it was read");
    done += bytesRead;
  }
}

function swapBytes(numbers: TensorNumbers): void {
  const bytes = Buffer.from(numbers.buffer);
  if (numbers.BYTES_PER_ELEMENT === 2) bytes.swap16();
  if (numbers.BYTES_PER_ELEMENT === 4) bytes.swap32();
  if (numbers.BYTES_PER_ELEMENT === 8) bytes.swap64();
}

function damaged(path: string, problem: string, cause?: unknown): OptionsError {
  return new OptionsError("config", `${path} ${problem}`, { cause });
}

/** The value of each of the 65,536 numbers of 16 bits, by the type that they are of. */
export function halfValues(type: "F16" | "BF16"): Float32Array {
  const values = new Float32Array(1 << 16);
  if (type === "BF16") {
    // The upper half of a float of 32 bits.
    const bits = new Uint32Array(values.buffer);
    for (let half = 0; half < bits.length; half++) bits[half] = half * 0x10000;
    return values;
  }
  for (let half = 0; half < values.length; half++) {
    const exponent = (half >>> 10) & 0x1f;
    const fraction = half & 0x3ff;
    const size =
      exponent === 0x1f
        ? fraction === 0
          ? Infinity
          : NaN
        : exponent === 0
          ? fraction * 2 ** -24
          : (1024 + fraction) * 2 ** (exponent - 25);
    values[half] = half & 0x8000 ? -size : size;
  }
  return values;
}
