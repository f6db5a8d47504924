// The bytes of kernel.wat, assembled by wabt. test/store/dense/kernel.test.ts checks that they agree, and prints the new
// bytes when the source was changed.
const bytes =
  "AGFzbQEAAAABCQFgBX9/f39/AAIQAQRob3N0Bm1lbW9yeQIAAAMCAQAHBwEDcnVuAAAKogIBnwICAn8EeyAAIARqIQYDQCAAIQX9DAAAAAAA" +
  "AAAAAAAAAAAAAAAhB/0MAAAAAAAAAAAAAAAAAAAAACEI/QwAAAAAAAAAAAAAAAAAAAAAIQn9DAAAAAAAAAAAAAAAAAAAAAAhCgNAIAcgBf0A" +
  "AgAgAf0AAgD95gH95AEhByAIIAX9AAIQIAH9AAIQ/eYB/eQBIQggCSAF/QACICAB/QACIP3mAf3kASEJIAogBf0AAjAgAf0AAjD95gH95AEh" +
  "CiABQcAAaiEBIAVBwABqIQUgBSAGSQ0ACyAHIAj95AEhByAHIAn95AEhByAHIAr95AEhByACIAf9HwAgB/0fASAH/R8CIAf9HwOSkpI4AgAg" +
  "AkEEaiECIANBAWshAyADDQALCw==";

/** Floats in one step of the kernel: rows are padded with zeros to a multiple of it. */
export const floatsPerStep = 16;

export const bytesPerPage = 65_536;

/** The part of WebAssembly that we use; the types of Node do not declare it. */
interface WebAssembly {
  readonly Memory: new (limits: { initial: number; maximum: number }) => Kernel["memory"];
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Pick<Kernel, "run"> };
}

export interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number };
  /** Writes dot products to `out`, as kernel.wat says. */
  readonly run: (query: number, rows: number, out: number, count: number, stride: number) => void;
}

/** The kernel with a memory of its own; `undefined` where WebAssembly or its SIMD instructions are missing. */
export function createKernel(maxPages: number): Kernel | undefined {
  const { WebAssembly: wasm } = globalThis as { WebAssembly?: WebAssembly };
  if (!wasm) return undefined;
  try {
    const memory = new wasm.Memory({ initial: 1, maximum: maxPages });
    const { exports } = new wasm.Instance(new wasm.Module(kernelBytes()), { host: { memory } });
    return { memory, run: exports.run };
  } catch {
    return undefined;
  }
}

export function kernelBytes(): Uint8Array {
  return Buffer.from(bytes, "base64");
}
