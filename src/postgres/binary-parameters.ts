// `pg` sends a Buffer as the binary form of whatever type the parameter has, which both sides handle much faster than text.
// The forms are those of array_recv in PostgreSQL and vector_recv in pgvector.

interface ElementType<Value> {
  /** Object id, which PostgreSQL's own types have everywhere. */
  readonly oid: number;
  readonly size: (value: Value) => number;
  readonly write: (buffer: Buffer, value: Value, index: number) => unknown;
}

const int4: ElementType<number> = {
  oid: 23,
  size: () => 4,
  write: (buffer, value, index) => buffer.writeInt32BE(value, index),
};
const int8: ElementType<number | bigint> = {
  oid: 20,
  size: () => 8,
  write: (buffer, value, index) => buffer.writeBigInt64BE(BigInt(value), index),
};
const float8: ElementType<number> = {
  oid: 701,
  size: () => 8,
  write: (buffer, value, index) => buffer.writeDoubleBE(value, index),
};
const text: ElementType<string> = {
  oid: 25,
  size: (value) => Buffer.byteLength(value),
  write: (buffer, value, index) => buffer.write(value, index),
};
const bytea: ElementType<Uint8Array> = {
  oid: 17,
  size: (value) => value.length,
  write: (buffer, value, index) => buffer.set(value, index),
};
const vector: Omit<ElementType<Float32Array>, "oid"> = {
  size: (value) => 4 + 4 * value.length,
  write: (buffer, value, position) => {
    buffer.writeInt16BE(value.length, position);
    buffer.writeInt16BE(0, position + 2);
    for (let index = 0; index < value.length; index++) buffer.writeFloatBE(value[index]!, position + 4 + 4 * index);
  },
};

type Elements<Value> = readonly (Value | null | undefined)[];

// Parameters of the types `integer[]`, `bigint[]`, `double precision[]`, `text[]` and `bytea[]`. Texts have passed `columnText`.
export const integers = (values: Elements<number>): Buffer => arrayOf(int4, values);
export const bigints = (values: Elements<number | bigint>): Buffer => arrayOf(int8, values);
export const doubles = (values: Elements<number>): Buffer => arrayOf(float8, values);
export const texts = (values: Elements<string>): Buffer => arrayOf(text, values);
export const byteStrings = (values: Elements<Uint8Array>): Buffer => arrayOf(bytea, values);

/** A parameter of the type `vector[]`, whose object id differs from database to database. */
export function vectors(oid: number, values: readonly Float32Array[]): Buffer {
  return arrayOf({ oid, ...vector }, values);
}

/** A parameter of the type `vector`. */
export function oneVector(value: Float32Array): Buffer {
  const buffer = Buffer.allocUnsafe(vector.size(value));
  vector.write(buffer, value, 0);
  return buffer;
}

function arrayOf<Value>({ oid, size, write }: ElementType<Value>, values: Elements<Value>): Buffer {
  const isEmpty = values.length === 0;
  let length = isEmpty ? 12 : 20;
  const sizes = Int32Array.from(values, (value) => (value === null || value === undefined ? -1 : size(value)));
  for (const currentSize of sizes) length += 4 + Math.max(0, currentSize);
  const buffer = Buffer.allocUnsafe(length);
  buffer.writeInt32BE(isEmpty ? 0 : 1, 0);
  buffer.writeInt32BE(sizes.includes(-1) ? 1 : 0, 4);
  buffer.writeUInt32BE(oid, 8);
  if (isEmpty) return buffer;
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16);
  let position = 20;
  for (const [index, value] of values.entries()) {
    buffer.writeInt32BE(sizes[index]!, position);
    position += 4;
    if (value === null || value === undefined) continue;
    write(buffer, value, position);
    position += sizes[index]!;
  }
  return buffer;
}
