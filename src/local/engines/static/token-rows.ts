import { OptionsError } from "../../../core/errors.js";
import { halfValues, type StoredTensor, type TensorNumbers } from "./safetensors.js";

/** The tensors of a static model: a row a token, and what Model2Vec keeps beside them. */
export interface RowTensors {
  readonly rows: StoredTensor;
  /** Importance of each token. Default: 1. */
  readonly weights?: StoredTensor | undefined;
  /** Row of each token, where several share one. Default: the token's id. */
  readonly mapping?: StoredTensor | undefined;
}

/** Takes the mean of the rows of tokens. The rows stay in memory as the file has them: halves and bytes are read when they are added. */
export class TokenRows {
  readonly dimension: number;
  /** Number of tokens that have a row. */
  readonly tokens: number;
  readonly #numbers: Exclude<TensorNumbers, BigInt64Array>;
  /** Values of numbers of 16 bits. */
  readonly #halves: Float32Array | undefined;
  readonly #weights: Float64Array | undefined;
  readonly #mapping: Uint32Array | undefined;

  /** @throws OptionsError (`config`) when the tensors do not fit one another. */
  constructor(path: string, { rows, weights, mapping }: RowTensors) {
    const [count = 0, dimension = 0] = rows.shape;
    if (rows.numbers instanceof BigInt64Array)
      throw misfit(path, `has rows of ${rows.type}, not of fractions or bytes`);
    this.dimension = dimension;
    this.#numbers = rows.numbers;
    this.#halves = rows.type === "F16" || rows.type === "BF16" ? halfValues(rows.type) : undefined;
    this.#mapping = mapping && rowNumbers(path, mapping, count);
    this.#weights = weights && Float64Array.from(fractions(path, weights));
    this.tokens = this.#mapping?.length ?? count;
    const weighed = this.#weights?.length ?? this.tokens;
    if (weighed !== this.tokens) {
      throw misfit(path, `has ${weighed} weights for ${this.tokens} tokens`);
    }
  }

  /** Adds the rows of these tokens, each as its weight says, to sums. */
  add(ids: readonly number[], sums: Float64Array): void {
    const { dimension } = this;
    const [numbers, halves, weights, mapping] = [this.#numbers, this.#halves, this.#weights, this.#mapping];
    for (const id of ids) {
      const weight = weights === undefined ? 1 : weights[id]!;
      const start = (mapping === undefined ? id : mapping[id]!) * dimension;
      if (halves)
        for (let index = 0; index < dimension; index++) sums[index]! += weight * halves[numbers[start + index]!]!;
      else
        for (let position = 0; position < dimension; position++) sums[position]! += weight * numbers[start + position]!;
    }
  }
}

function rowNumbers(path: string, { type, numbers, shape }: StoredTensor, rows: number): Uint32Array {
  if (shape.length !== 1 || type.startsWith("F") || type.startsWith("B")) {
    throw misfit(path, `has a mapping of ${type} in the shape ${shape.join(" × ")}, not one row number a token`);
  }
  const mapping = Uint32Array.from(numbers as ArrayLike<number | bigint> as ArrayLike<number>, Number);
  const outside = mapping.findIndex((row, token) => row >= rows || Number(numbers[token]) < 0);
  if (outside >= 0) {
    throw misfit(path, `maps token ${outside} to row ${numbers[outside]}, and has ${rows} rows`);
  }
  return mapping;
}

function fractions(path: string, { type, numbers, shape }: StoredTensor): ArrayLike<number> {
  if (shape.length !== 1 || numbers instanceof BigInt64Array) {
    throw misfit(path, `has weights of ${type} in the shape ${shape.join(" × ")}, not one number a token`);
  }
  if (type !== "F16" && type !== "BF16") return numbers;
  const values = halfValues(type);
  return Float64Array.from(numbers, (half) => values[half]!);
}

function misfit(path: string, problem: string): OptionsError {
  return new OptionsError("config", `${path} ${problem}`);
}
