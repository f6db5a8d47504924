import { z } from "zod";

/** A part of a tokenizer, such as its normalizer, as far as it is read here. */
interface Part {
  readonly type: string;
  readonly [field: string]: unknown;
}

const Part = z.looseObject({ type: z.string() }) as z.ZodType<Part>;

/** The fields of a `tokenizer.json` that are read. */
export const TokenizerDefinition = z.object({
  added_tokens: z
    .array(z.object({ id: z.int().min(0), content: z.string(), normalized: z.boolean().default(true) }))
    .default([]),
  normalizer: Part.nullish(),
  pre_tokenizer: Part.nullish(),
  truncation: z.object({ max_length: z.int().min(1) }).nullish(),
  model: z.looseObject({
    type: z.string().optional(),
    fuse_unk: z.boolean().nullish(),
    unk_token: z.string().nullish(),
    unk_id: z.int().nullish(),
    // The texts of its tokens, with their ids, or in the order of these with scores.
    vocab: z.union([z.record(z.string(), z.int().min(0)), z.array(z.tuple([z.string(), z.number()]))]),
  }),
});
export type TokenizerDefinition = z.output<typeof TokenizerDefinition>;

/** Ways to cut a text so that the tokens of the pieces are those of the text. */
export interface Separation {
  /** `alone`: into words, without white space. `with-space`: each word with the white space before it. `none`: not at all. */
  readonly kind: "alone" | "with-space" | "none";
  /** Whether each Han character is a piece of its own. */
  readonly cutsHan: boolean;
  /** Whether line ends and tabs part words as spaces do. */
  readonly cutsLines: boolean;
}

const notSeparable: Separation = { kind: "none", cutsHan: false, cutsLines: false };

/** Normalizers that look at no more than a character and the marks behind it. */
const localNormalizers: ReadonlySet<string> = new Set([
  "BertNormalizer",
  "Lowercase",
  "NFC",
  "NFD",
  "NFKC",
  "NFKD",
  "Precompiled",
  "StripAccents",
]);

const splitsAtSpace: ReadonlySet<string> = new Set(["BertPreTokenizer", "Whitespace", "WhitespaceSplit"]);

/**
 * Finds out whether a tokenizer treats each word by itself. In doubt it says no, which costs time and no token. The order of the
 * parts is that of https://huggingface.co/docs/tokenizers/pipeline.
 */
export function separation(definition: TokenizerDefinition): Separation {
  const { added_tokens: added, model } = definition;
  const normalizers = partsOf(definition.normalizer, "normalizers");
  const preTokenizers = partsOf(definition.pre_tokenizer, "pretokenizers");
  const [first] = preTokenizers;
  if (!first || !normalizers.every(({ type }) => localNormalizers.has(type))) return notSeparable;
  // Added tokens are looked for in the text as it is, and those that are normalized would have to be found in it normalized.
  if (normalizers.length > 0 && added.some(({ normalized }) => normalized)) return notSeparable;
  const marked = preTokenizers.find(({ type }) => type === "Metaspace");
  const sign = typeof marked?.["replacement"] === "string" ? marked["replacement"] : "▁";
  const isMarked = marked !== undefined && wordsEndBefore(sign, model.vocab);
  // Unknown characters of two words are one token, unless there is always a token between them.
  const joinsUnknown = (model.fuse_unk === true || Array.isArray(model.vocab)) && !isMarked;
  if (splitsAtSpace.has(first.type)) {
    if (joinsUnknown) return notSeparable;
    const [bert] = normalizers;
    const cutsHan = bert?.type === "BertNormalizer" && bert["handle_chinese_chars"] === true;
    return { kind: "alone", cutsHan, cutsLines: true };
  }
  if (preTokenizers.length > 1) return notSeparable;
  if (first.type === "ByteLevel" && first["add_prefix_space"] === false && first["use_regex"] !== false) {
    // A normalizer may make a space out of a mark: it would belong to the next word.
    const harmless = normalizers.every(({ type }) => type === "NFC" || type === "NFD");
    return harmless && !joinsUnknown ? { kind: "with-space", cutsHan: false, cutsLines: true } : notSeparable;
  }
  if (!isMarked) return notSeparable;
  // It makes a mark of a space alone, and puts one before a text that begins with anything else.
  const cutsLines = normalizers.some(({ type }) => type === "Precompiled");
  return { kind: "with-space", cutsHan: false, cutsLines };
}

/** Whether no token goes on over the sign that stands for a space: each such sign then begins a token. */
function wordsEndBefore(sign: string, vocabulary: TokenizerDefinition["model"]["vocab"]): boolean {
  const tokens = Array.isArray(vocabulary) ? vocabulary.map(([token]) => token) : Object.keys(vocabulary);
  return tokens.includes(sign) && tokens.every((token) => token.lastIndexOf(sign) <= 0);
}

function partsOf(part: Part | null | undefined, field: string): readonly Part[] {
  if (!part) return [];
  if (part.type !== "Sequence") return [part];
  const inner = z.array(Part).safeParse(part[field]);
  // A sequence that cannot be read is a part that nobody knows.
  return inner.success ? inner.data.flatMap((one) => partsOf(one, field)) : [part];
}

/** Chinese characters within the range of one code unit, as the normalizer of BERT knows them. */
export function isHan(unit: number): boolean {
  return (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0x3400 && unit <= 0x4dbf) || (unit >= 0xf900 && unit <= 0xfaff);
}
