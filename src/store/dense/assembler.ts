/** The few words of WebAssembly's binary format that the kernel needs: https://webassembly.github.io/spec/core/binary/ */

type Bytes = readonly number[];

export const i32 = 0x7f;
export const v128 = 0x7b;

/** Unsigned LEB128. */
function unsigned(value: number): Bytes {
  const low = value & 0x7f;
  return value < 0x80 ? [low] : [low | 0x80, ...unsigned(value >>> 7)];
}

/** Signed LEB128, for values that fit into 32 bits. */
function signed(value: number): Bytes {
  const low = value & 0x7f;
  const rest = value >> 7;
  const last = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
  return last ? [low] : [low | 0x80, ...signed(rest)];
}

/** Instructions one after another. */
export const sequence = (...instructions: readonly Bytes[]): Bytes => instructions.flat();

const list = (items: readonly Bytes[]): Bytes => [...unsigned(items.length), ...items.flat()];
const name = (text: string): Bytes => [...unsigned(text.length), ...new TextEncoder().encode(text)];
const magicAndVersion: Bytes = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const section = (id: number, content: Bytes): Bytes => [id, ...unsigned(content.length), ...content];
const simd = (code: number, ...operands: number[]): Bytes => [0xfd, ...unsigned(code), ...operands];

export const local = {
  get: (index: number): Bytes => [0x20, ...unsigned(index)],
  set: (index: number): Bytes => [0x21, ...unsigned(index)],
};
export const int = {
  constant: (value: number): Bytes => [0x41, ...signed(value)],
  add: [0x6a],
  subtract: [0x6b],
  lessUnsigned: [0x49],
};
export const float = {
  add: [0x92],
  /** Takes address and value; addresses are multiples of 4. */
  store: [0x38, 2, 0],
};
export const lanes = {
  zero: simd(12, ...Array.from({ length: 16 }, () => 0)),
  /** Four floats at the address plus `offset`; 2 promises multiples of 4 = 2². */
  load: (offset: number): Bytes => simd(0, 2, ...unsigned(offset)),
  add: simd(228),
  multiply: simd(230),
  extract: (lane: number): Bytes => simd(31, lane),
};
/** Runs `body`, then again while the value it leaves on the stack is not 0. */
export const repeatWhile = (body: Bytes): Bytes => [0x03, 0x40, ...body, 0x0d, 0, 0x0b];

export interface FunctionBody {
  readonly parameters: readonly number[];
  readonly locals: readonly number[];
  readonly code: Bytes;
}

/** A module of one exported function without result, over a memory that it imports as `host.memory`. */
export function moduleOf(exported: string, { parameters, locals, code }: FunctionBody): Uint8Array {
  const body = [...list(locals.map((type) => [1, type])), ...code, 0x0b];
  return Uint8Array.from([
    ...magicAndVersion,
    ...section(1, list([[0x60, ...list(parameters.map((type) => [type])), 0]])),
    ...section(2, list([[...name("host"), ...name("memory"), 0x02, 0x00, 0]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...name(exported), 0x00, 0]])),
    ...section(10, list([[...unsigned(body.length), ...body]])),
  ]);
}
