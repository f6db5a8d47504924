import type { Bits } from "./codes.js";

// The bytes of kernel.wat and kernel-4.wat, assembled by wabt. test/store/dense/kernel.test.ts checks that they agree, and prints the new
// bytes when a source was changed.
const bytesOf8 =
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

const bytesOf4 =
  "AGFzbQEAAAABKAVgAXsBf2ADf39/AGADf39/AX1gB39/f39/f38AYAd/f399f39/AX8CEwEEaG9zdAZtZW1vcnkCAwGAgAQDBgUAAQIDBAckAwZ1bnBhY2sA" +
  "AQxzaW1pbGFyaXRpZXMAAwhhbnlBYm92ZQAECv8IBRkAIAD9GwAgAP0bAWogAP0bAiAA/RsDamoLcQIBfwF7IAAgAmohAwNAIAD9AAQAIQQgASAEQQz9iwFB" +
  "DP2MAf0LBAAgASAEQQj9iwFBDP2MAf0LBBAgASAEQQT9iwFBDP2MAf0LBCAgASAEQQz9jAH9CwQwIABBEGohACABQcAAaiEBIAAgA0kNAAsLqQECAX8DeyAB" +
  "IAJqIQMDQCAB/QAEACEEIAUgAP0ABAAgBEEM/YsBQQz9jAH9ugH9rgEhBSAGIAD9AAQQIARBCP2LAUEM/YwB/boB/a4BIQYgBSAA/QAEICAEQQT9iwFBDP2M" +
  "Af26Af2uASEFIAYgAP0ABDAgBEEM/YwB/boB/a4BIQYgAUEQaiEBIABBwABqIQAgASADSQ0ACyAFIAb9rgEQALIgASoCAJQLhAYEBH8FewR/BHsgASACQQJ0" +
  "aiEHIAEhCANAIAogBCAIKAIAIAVsaigCAHIhCiAIQQRqIQggCCAHSQ0ACyADIAo2AgADQCAEIAEoAgAgBWxqIRD9DAAAAAAAAAAAAAAAAAAAAAAhFCAEIAEo" +
  "AgQgBWxqIRH9DAAAAAAAAAAAAAAAAAAAAAAhFSAEIAEoAgggBWxqIRL9DAAAAAAAAAAAAAAAAAAAAAAhFiAEIAEoAgwgBWxqIRP9DAAAAAAAAAAAAAAAAAAA" +
  "AAAhFyAQIAZqIQkgACEIA0AgCP0ABAAhDCAI/QAEECENIAj9AAQgIQ4gCP0ABDAhDyAQ/QAEACELIBQgDCALQQz9iwFBDP2MAf26Af2uASEUIBQgDSALQQj9" +
  "iwFBDP2MAf26Af2uASEUIBQgDiALQQT9iwFBDP2MAf26Af2uASEUIBQgDyALQQz9jAH9ugH9rgEhFCAQQRBqIRAgEf0ABAAhCyAVIAwgC0EM/YsBQQz9jAH9" +
  "ugH9rgEhFSAVIA0gC0EI/YsBQQz9jAH9ugH9rgEhFSAVIA4gC0EE/YsBQQz9jAH9ugH9rgEhFSAVIA8gC0EM/YwB/boB/a4BIRUgEUEQaiERIBL9AAQAIQsg" +
  "FiAMIAtBDP2LAUEM/YwB/boB/a4BIRYgFiANIAtBCP2LAUEM/YwB/boB/a4BIRYgFiAOIAtBBP2LAUEM/YwB/boB/a4BIRYgFiAPIAtBDP2MAf26Af2uASEW" +
  "IBJBEGohEiAT/QAEACELIBcgDCALQQz9iwFBDP2MAf26Af2uASEXIBcgDSALQQj9iwFBDP2MAf26Af2uASEXIBcgDiALQQT9iwFBDP2MAf26Af2uASEXIBcg" +
  "DyALQQz9jAH9ugH9rgEhFyATQRBqIRMgCEHAAGohCCAQIAlJDQALIAMgFBAAsiAQKgIAlDgCACADIBUQALIgESoCAJQ4AgQgAyAWEACyIBIqAgCUOAIIIAMg" +
  "FxAAsiATKgIAlDgCDCABQRBqIQEgA0EQaiEDIAEgB0kNAAsLQAEBfyABIAJBAnRqIQcCQANAIAEgB08NASAAIAQgASgCACAFbGogBhACIANeBEBBAQ8LIAFB" +
  "BGohAQwACwtBAAs=";

/** Similarities are computed of a multiple of this many rows. */
export const rowsPerStep = 4;

export const bytesPerPage = 65_536;

/** Memory that threads share, and that grows in place. After it has grown, `buffer` is another, longer view of it. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  readonly grow: (pages: number) => number;
}

/** The functions of kernel.wat and kernel-4.wat. */
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
  /** Makes a query of a row. Missing where a row is a query as it is. */
  readonly unpack?: (row: number, to: number, bytes: number) => void;
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
export function createKernel(memory: SharedMemory, bits: Bits): Kernel {
  const { Module, Instance } = webAssembly();
  return new Instance(new Module(kernelBytes(bits)), { host: { memory } }).exports;
}

export function kernelBytes(bits: Bits): Uint8Array {
  return Buffer.from(bits === 8 ? bytesOf8 : bytesOf4, "base64");
}

function webAssembly(): WebAssembly {
  const { WebAssembly: wasm } = globalThis as { WebAssembly?: WebAssembly };
  if (!wasm) throw new Error("WebAssembly is missing");
  return wasm;
}
