// Static embedding models as other programs write them: a table of rows in a file of tensors, and a tokenizer.

/** A tensor as bytes, with what its file says of it. */
export interface TensorBytes {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** A file of tensors: https://huggingface.co/docs/safetensors#format */
export function safetensors(tensors: Readonly<Record<string, TensorBytes>>): Uint8Array {
  let at = 0;
  const header: Record<string, object> = { __metadata__: { format: "np" } };
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [at, (at += bytes.length)] };
  }
  return tensorFile(JSON.stringify(header), ...Object.values(tensors).map(({ bytes }) => bytes));
}

/** A file with any header, for damaged ones. */
export function tensorFile(header: string, ...data: readonly Uint8Array[]): Uint8Array {
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...data]);
}

export type RowType = "F64" | "F32" | "F16" | "BF16" | "I8";

/** Numbers as the bytes of a type; whole numbers for `I8`. */
export function numbersAs(dtype: RowType | "I64" | "I32", numbers: readonly number[], ...shape: number[]): TensorBytes {
  const bytes = Buffer.alloc(numbers.length * { F64: 8, F32: 4, F16: 2, BF16: 2, I8: 1, I64: 8, I32: 4 }[dtype]);
  for (const [at, value] of numbers.entries()) {
    if (dtype === "F64") bytes.writeDoubleLE(value, at * 8);
    if (dtype === "F32") bytes.writeFloatLE(value, at * 4);
    if (dtype === "F16") bytes.writeUInt16LE(halfOf(value), at * 2);
    if (dtype === "BF16") bytes.writeUInt16LE(floatBits(value) >>> 16, at * 2);
    if (dtype === "I8") bytes.writeInt8(value, at);
    if (dtype === "I64") bytes.writeBigInt64LE(BigInt(value), at * 8);
    if (dtype === "I32") bytes.writeInt32LE(value, at * 4);
  }
  return { dtype, shape, bytes };
}

/** The number that a type keeps of another. */
export function keptIn(dtype: RowType, value: number): number {
  if (dtype === "F16") return halfValue(halfOf(value));
  if (dtype === "BF16") return new Float32Array(Uint32Array.of((floatBits(value) >>> 16) << 16).buffer)[0]!;
  return dtype === "F64" ? value : Math.fround(value);
}

function floatBits(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0]!;
}

/** Five bits of exponent, ten of fraction, by search: slow, and nothing to get wrong. */
function halfOf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  let [low, high] = [0, 0x7c00];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (halfValue(middle) <= Math.abs(value)) low = middle;
    else high = middle;
  }
  return sign | low;
}

function halfValue(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half & 0x7c00) >> 10;
  const fraction = (half & 0x3ff) / 1024;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15));
}

const special = ["[PAD]", "[UNK]"];
const letters = "abcdefghijklmnopqrstuvwxyz0123456789".split("");

const bare = { version: "1.0", normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
const added = special.map((content, id) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
}));

/** Pieces of words, as BERT has them: these words, all letters and the marks of ASCII. */
export function wordPieces(words: readonly string[]) {
  const signs = Array.from({ length: 94 }, (_, at) => String.fromCodePoint(33 + at)).filter(
    (sign) => !/[A-Z]/.test(sign),
  );
  const tokens = [
    ...new Set([
      ...special,
      ...signs,
      ...letters.map((letter) => `##${letter}`),
      ...Array.from("中文分词的"),
      ...words,
    ]),
  ];
  return {
    ...bare,
    added_tokens: added,
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
}

/** Whole words alone. */
export function wholeWords(words: readonly string[]) {
  return {
    ...bare,
    added_tokens: added,
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    model: {
      type: "WordLevel",
      unk_token: "[UNK]",
      vocab: Object.fromEntries([...special, ...words].map((word, id) => [word, id])),
    },
  };
}

/** Pieces with scores, as SentencePiece has them; `splits` puts words apart first, as newer files do. */
export function unigrams(words: readonly string[], splits = false) {
  const pieces = ["<unk>", "▁", ...letters, ...Array.from("ABC.,"), ...words.map((word) => `▁${word}`), ...words];
  const metaspace = { type: "Metaspace", replacement: "▁", add_prefix_space: true, prepend_scheme: "always" };
  return {
    ...bare,
    added_tokens: [],
    normalizer: { type: "Precompiled", precompiled_charsmap: null },
    pre_tokenizer: splits ? { type: "Sequence", pretokenizers: [{ type: "WhitespaceSplit" }, metaspace] } : metaspace,
    model: {
      type: "Unigram",
      unk_id: 0,
      vocab: [...new Set(pieces)].map((piece) => [piece, -piece.length > -2 ? -9 : -4]),
    },
  };
}

/** Pairs of bytes, as GPT-2 has them. */
export function bytePairs() {
  const bytes = Array.from({ length: 94 }, (_, at) => String.fromCodePoint(33 + at));
  const tokens = [...bytes, "Ġ", "Ċ", "ĉ", "th", "the", "Ġthe", "Ġt", "in", "ing", "Ã", "©"];
  return {
    ...bare,
    added_tokens: [],
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      fuse_unk: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: ["t h", "th e", "Ġ the", "Ġ t", "i n", "in g"],
    },
  };
}
