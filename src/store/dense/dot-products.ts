import { float, i32, int, lanes, local, moduleOf, repeatWhile, sequence, v128 } from "./assembler.js";

/** Floats that the kernel takes in one step: rows are padded with zeros to a multiple of it. */
export const floatsPerStep = 16;

/**
 * Writes the dot products of `query` with `count` rows that lie one behind the other from `rows` on to `out`. All four
 * are byte addresses but `count`; `stride` is the length of a row in bytes. `count` and `stride` are not 0.
 */
type DotProducts = (query: number, rows: number, out: number, count: number, stride: number) => void;

/** What we use of WebAssembly: the types of Node do not have it. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  readonly grow: (pages: number) => number;
}
interface Wasm {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: { readonly run: DotProducts } };
}

export interface Kernel {
  readonly memory: WasmMemory;
  readonly run: DotProducts;
}

export const bytesPerPage = 65_536;

/** The kernel with a memory of its own; `undefined` where WebAssembly or its SIMD instructions are missing. */
export function createKernel(maximumPages: number): Kernel | undefined {
  const { WebAssembly: wasm } = globalThis as { WebAssembly?: Wasm };
  if (!wasm) return undefined;
  try {
    const memory = new wasm.Memory({ initial: 1, maximum: maximumPages });
    const { exports } = new wasm.Instance(new wasm.Module(kernelBytes()), { host: { memory } });
    return { memory, run: exports.run };
  } catch {
    return undefined;
  }
}

function kernelBytes(): Uint8Array {
  const [query, row, out, count, stride, at, end] = [0, 1, 2, 3, 4, 5, 6];
  // Four sums that do not wait for each other keep the processor's adders busy.
  const sums = [7, 8, 9, 10];
  const advance = (variable: number, by: number) =>
    sequence(local.get(variable), int.constant(by), int.add, local.set(variable));
  const multiplyAndAdd = (sum: number, offset: number) =>
    sequence(
      local.get(sum),
      sequence(local.get(at), lanes.load(offset)),
      sequence(local.get(row), lanes.load(offset)),
      sequence(lanes.multiply, lanes.add, local.set(sum)),
    );
  const dotProduct = repeatWhile(
    sequence(
      ...sums.map((sum, index) => multiplyAndAdd(sum, 16 * index)),
      advance(row, 64),
      advance(at, 64),
      sequence(local.get(at), local.get(end), int.lessUnsigned),
    ),
  );
  const [total, ...others] = sums as [number, ...number[]];
  const storeTotal = sequence(
    ...others.map((sum) => sequence(local.get(total), local.get(sum), lanes.add, local.set(total))),
    local.get(out),
    ...[0, 1, 2, 3].map((lane) => sequence(local.get(total), lanes.extract(lane))),
    sequence(float.add, float.add, float.add, float.store),
  );
  return moduleOf("run", {
    parameters: [i32, i32, i32, i32, i32],
    locals: [i32, i32, v128, v128, v128, v128],
    code: sequence(
      sequence(local.get(query), local.get(stride), int.add, local.set(end)),
      repeatWhile(
        sequence(
          sequence(local.get(query), local.set(at)),
          ...sums.map((sum) => sequence(lanes.zero, local.set(sum))),
          dotProduct,
          storeTotal,
          advance(out, 4),
          sequence(local.get(count), int.constant(1), int.subtract, local.set(count), local.get(count)),
        ),
      ),
    ),
  });
}
