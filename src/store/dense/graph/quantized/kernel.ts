// The bytes of kernel.wat, assembled by wabt. test/store/dense/kernel.test.ts checks that they agree, and prints the new
// bytes when the source was changed.
const bytes =
  "AGFzbQEAAAABJARgA39/fwF/YAN/f38BfWAHf39/f39/fwBgB39/f31/f38BfwITAQRob3N0Bm1lbW9yeQIDAYCABAMFBAABAgMHGwIMc2ltaWxhcm" +
  "l0aWVzAAIIYW55QWJvdmUAAwrcAgTBAQIBfwR7IAAgAmohA/0MAAAAAAAAAAAAAAAAAAAAACEG/QwAAAAAAAAAAAAAAAAAAAAAIQcDQCAA/QAEACEE" +
  "IAH9AAQAIQUgBiAEIAX9nAEgBCAF/Z0B/Y4B/X79rgEhBiAA/QAEECEEIAH9AAQQIQUgByAEIAX9nAEgBCAF/Z0B/Y4B/X79rgEhByABQSBqIQEgAE" +
  "EgaiEAIAAgA0kNAAsgBiAH/a4BIQYgBv0bACAG/RsBaiAG/RsCIAb9GwNqagsUACAAIAEgAhAAsiABIAJqKgIAlAtBAQF/IAEgAkECdGohBwJAA0Ag" +
  "ASAHTw0BIAMgACAEIAEoAgAgBWxqIAYQATgCACADQQRqIQMgAUEEaiEBDAALCwtAAQF/IAEgAkECdGohBwJAA0AgASAHTw0BIAAgBCABKAIAIAVsai" +
  "AGEAEgA14EQEEBDwsgAUEEaiEBDAALC0EACw==";

/** Vectors are padded with zeros to a multiple of this many bytes. */
export const bytesPerStep = 32;

export const bytesPerPage = 65_536;

/** Memory that threads share, and that grows in place. After it has grown, `buffer` is another, longer view of it. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  readonly grow: (pages: number) => number;
}

/** The functions of kernel.wat. */
export interface Kernel {
  readonly similarities: (
    query: number,
    slots: number,
    count: number,
    out: number,
    rows: number,
    stride: number,
    bytes: number,
  ) => void;
  readonly anyAbove: (
    query: number,
    slots: number,
    count: number,
    limit: number,
    rows: number,
    stride: number,
    bytes: number,
  ) => 0 | 1;
}

/** The part of WebAssembly that we use; the types of Node do not declare it. */
interface WebAssembly {
  readonly Memory: new (limits: { initial: number; maximum: number; shared: true }) => SharedMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Kernel };
}

/** Just below 4 GiB, which is what the kernel can address. */
export const maxPages = 65_535;

/** @throws where WebAssembly, or its shared memory, is missing. */
export function createSharedMemory(): SharedMemory {
  return new (webAssembly().Memory)({ initial: 1, maximum: maxPages, shared: true });
}

/** @throws where the SIMD instructions of WebAssembly are missing. */
export function createKernel(memory: SharedMemory): Kernel {
  const { Module, Instance } = webAssembly();
  return new Instance(new Module(kernelBytes()), { host: { memory } }).exports;
}

export function kernelBytes(): Uint8Array {
  return Buffer.from(bytes, "base64");
}

function webAssembly(): WebAssembly {
  const { WebAssembly: wasm } = globalThis as { WebAssembly?: WebAssembly };
  if (!wasm) throw new Error("WebAssembly is missing");
  return wasm;
}
