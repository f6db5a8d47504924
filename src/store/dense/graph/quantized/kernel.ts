// The bytes of kernel.wat, assembled by wabt. test/store/dense/kernel.test.ts checks that they agree, and prints the new
// bytes when the source was changed.
const bytes =
  "AGFzbQEAAAABKQVgAXsBf2ADf39/AX9gA39/fwF9YAd/f39/f39/AGAHf39/fX9/fwF/AhMBBGhvc3QGbWVtb3J5AgMBgIAEAwYFAAECAwQHGwIMc2lt" +
  "aWxhcml0aWVzAAMIYW55QWJvdmUABAqGBgUZACAA/RsAIAD9GwFqIAD9GwIgAP0bA2pqC6oBAgF/BHsgACACaiED/QwAAAAAAAAAAAAAAAAAAAAAIQb9" +
  "DAAAAAAAAAAAAAAAAAAAAAAhBwNAIAD9AAQAIQQgAf0ABAAhBSAGIAQgBf2cASAEIAX9nQH9jgH9fv2uASEGIAD9AAQQIQQgAf0ABBAhBSAHIAQgBf2c" +
  "ASAEIAX9nQH9jgH9fv2uASEHIAFBIGohASAAQSBqIQAgACADSQ0ACyAGIAf9rgEQAAsUACAAIAEgAhABsiABIAJqKgIAlAvnAwQEfwJ7BH8EeyABIAJB" +
  "AnRqIQcgACAGaiEJIAEhCANAIAogBCAIKAIAIAVsaigCAHIhCiAIQQRqIQggCCAHSQ0ACyADIAo2AgADQCAEIAEoAgAgBWxqIQ39DAAAAAAAAAAAAAAA" +
  "AAAAAAAhESAEIAEoAgQgBWxqIQ79DAAAAAAAAAAAAAAAAAAAAAAhEiAEIAEoAgggBWxqIQ/9DAAAAAAAAAAAAAAAAAAAAAAhEyAEIAEoAgwgBWxqIRD9" +
  "DAAAAAAAAAAAAAAAAAAAAAAhFCAAIQgDQCAI/QAEACELIA39AAQAIQwgESALIAz9nAEgCyAM/Z0B/Y4B/X79rgEhESANQRBqIQ0gDv0ABAAhDCASIAsg" +
  "DP2cASALIAz9nQH9jgH9fv2uASESIA5BEGohDiAP/QAEACEMIBMgCyAM/ZwBIAsgDP2dAf2OAf1+/a4BIRMgD0EQaiEPIBD9AAQAIQwgFCALIAz9nAEg" +
  "CyAM/Z0B/Y4B/X79rgEhFCAQQRBqIRAgCEEQaiEIIAggCUkNAAsgAyAREACyIA0qAgCUOAIAIAMgEhAAsiAOKgIAlDgCBCADIBMQALIgDyoCAJQ4Aggg" +
  "AyAUEACyIBAqAgCUOAIMIAFBEGohASADQRBqIQMgASAHSQ0ACwtAAQF/IAEgAkECdGohBwJAA0AgASAHTw0BIAAgBCABKAIAIAVsaiAGEAIgA14EQEEB" +
  "DwsgAUEEaiEBDAALC0EACw==";

/** Vectors are padded with zeros to a multiple of this many bytes. */
export const bytesPerStep = 32;

/** Similarities are computed of a multiple of this many rows. */
export const rowsPerStep = 4;

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
