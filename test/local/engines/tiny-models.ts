// Models small enough to be written by hand: an embedding is a row of a table, a score is the sum of its words' weights.

/** Words of the tiny models, by id. */
export const vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "car", "the"] as const;

/** Fields of a protobuf message (https://protobuf.dev/programming-guides/encoding/): numbers, texts, messages and lists. */
type Field = readonly [number: number, value: number | string | Uint8Array];

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 0x80))];
}

function message(...fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === "number") return Uint8Array.from([...varint(number * 8), ...varint(value)]);
      const bytes = Buffer.from(value);
      return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
    }),
  );
}

// Numbers of fields and of types: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
const float = 1;
const int64 = 7;

function tensor(name: string, dims: readonly number[], values: readonly number[]): Uint8Array {
  const raw = new Uint8Array(Float32Array.from(values).buffer);
  return message(...dims.map((size): Field => [1, size]), [2, float], [8, name], [9, raw]);
}

function valueInfo(name: string, type: number, dims: readonly (string | number)[]): Uint8Array {
  const shape = message(...dims.map((dim): Field => [1, message(typeof dim === "number" ? [1, dim] : [2, dim])]));
  return message([1, name], [2, message([1, message([1, type], [2, shape])])]);
}

function node(type: string, inputs: readonly string[], output: string, ...attributes: Uint8Array[]): Uint8Array {
  return message(
    ...inputs.map((name): Field => [1, name]),
    [2, output],
    [4, type],
    ...attributes.map((one): Field => [5, one]),
  );
}

const wholeNumber = 2;
const wholeNumbers = 7;
const attributes = {
  alongFirst: message([1, "axis"], [3, 0], [20, wholeNumber]),
  overTokens: message([1, "axes"], [8, 1], [20, wholeNumbers]),
  dropped: message([1, "keepdims"], [3, 0], [20, wholeNumber]),
};

function model(nodes: readonly Uint8Array[], table: Uint8Array, output: Uint8Array): Uint8Array {
  const graph = message(
    ...nodes.map((one): Field => [1, one]),
    [2, "tiny"],
    [5, table],
    [11, valueInfo("input_ids", int64, ["batch", "tokens"])],
    [11, valueInfo("attention_mask", int64, ["batch", "tokens"])],
    [12, output],
  );
  return message([1, 7], [7, graph], [8, message([1, ""], [2, 11])]);
}

/** Gives each token the row of its id. */
function embeddingModel(rows: readonly (readonly number[])[]): Uint8Array {
  const width = rows[0]!.length;
  return model(
    [node("Gather", ["table", "input_ids"], "last_hidden_state", attributes.alongFirst)],
    tensor("table", [rows.length, width], rows.flat()),
    valueInfo("last_hidden_state", float, ["batch", "tokens", width]),
  );
}

/** Gives a text the sum of its tokens' weights. */
function relevanceModel(weights: readonly number[]): Uint8Array {
  return model(
    [
      node("Gather", ["table", "input_ids"], "weights", attributes.alongFirst),
      node("ReduceSum", ["weights"], "logits", attributes.overTokens, attributes.dropped),
    ],
    tensor("table", [weights.length, 1], weights),
    valueInfo("logits", float, ["batch", 1]),
  );
}

function tokenizerFiles(): Readonly<Record<string, string>> {
  const special = vocabulary.slice(0, 4);
  const sequence = (id: "A" | "B", type: number) => ({ Sequence: { id, type_id: type } });
  const mark = (id: string, type: number) => ({ SpecialToken: { id, type_id: type } });
  const marks = [2, 3].map((id) => [vocabulary[id]!, { id: vocabulary[id], ids: [id], tokens: [vocabulary[id]] }]);
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: special.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    post_processor: {
      type: "TemplateProcessing",
      single: [mark("[CLS]", 0), sequence("A", 0), mark("[SEP]", 0)],
      pair: [mark("[CLS]", 0), sequence("A", 0), mark("[SEP]", 0), sequence("B", 1), mark("[SEP]", 1)],
      special_tokens: Object.fromEntries(marks),
    },
    decoder: null,
    model: {
      type: "WordLevel",
      vocab: Object.fromEntries(vocabulary.map((word, id) => [word, id])),
      unk_token: "[UNK]",
    },
  };
  return {
    "tokenizer.json": JSON.stringify(tokenizer),
    "tokenizer_config.json": JSON.stringify({
      tokenizer_class: "PreTrainedTokenizerFast",
      model_max_length: 512,
      pad_token: "[PAD]",
      unk_token: "[UNK]",
      cls_token: "[CLS]",
      sep_token: "[SEP]",
    }),
  };
}

function modelFiles(
  id: string,
  configuration: object,
  onnx: Uint8Array,
): Readonly<Record<string, string | Uint8Array>> {
  const files = {
    ...tokenizerFiles(),
    "config.json": JSON.stringify({ model_type: "bert", max_position_embeddings: 512, ...configuration }),
    "onnx/model.onnx": onnx,
  };
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${id}/${path}`, content]));
}

/** Files of a model that gives each word of the vocabulary its row. */
export function tinyEmbedder(id: string, rows: readonly (readonly number[])[], pooling?: object) {
  return {
    ...modelFiles(id, { architectures: ["BertModel"], hidden_size: rows[0]!.length }, embeddingModel(rows)),
    ...(pooling && { [`${id}/1_Pooling/config.json`]: JSON.stringify(pooling) }),
  };
}

/** Files of a model whose logit is the sum of the weights of all words of query and text. */
export function tinyReranker(id: string, weights: readonly number[]) {
  return modelFiles(id, { architectures: ["BertForSequenceClassification"] }, relevanceModel(weights));
}
