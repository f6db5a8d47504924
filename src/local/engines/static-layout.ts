import { access, readFile } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import { optionalJson } from "./model-files.js";
import { openTensors } from "./static/safetensors.js";

/** The steps of a sentence model, each in a folder of its own or beside the others. */
const Modules = z.array(z.object({ type: z.string(), path: z.string().default("") }));

/** The fields of a `config.json` that tell models in the format of Model2Vec, and how they are computed. */
const Configuration = z.object({
  model_type: z.string().nullish(),
  architectures: z.array(z.string()).nullish(),
  normalize: z.boolean().nullish(),
});

/** Where the parts of a static embedding model lie. */
export interface StaticLayout {
  readonly tensorFile: string;
  readonly tokenizerFile: string;
  /** Name of the tensor with a row for each token. */
  readonly tensor: "embeddings" | "embedding.weight";
  readonly dimension: number;
  /** Whether the model itself brings its vectors to length 1. */
  readonly normalizes: boolean;
}

/** The tensor of Model2Vec, and that of sentence-transformers. */
const tensors = ["embeddings", "embedding.weight"] as const;

/**
 * Finds out whether a folder holds a static embedding model: a row of numbers for each token, of which a text's vector is the
 * mean. `undefined` for any other model.
 *
 * @throws OptionsError (`config`) when it is one and a part of it is missing or damaged.
 */
export async function staticLayout(folder: string): Promise<StaticLayout | undefined> {
  const modulesFile = join(folder, "modules.json");
  const modules = await optionalJson(modulesFile, Modules);
  const configuration = await optionalJson(join(folder, "config.json"), Configuration);
  const normalizes = configuration?.normalize ?? modules?.some(({ type }) => kindOf(type) === "Normalize") ?? false;
  if (modules) {
    const [first, ...others] = modules;
    if (!first || kindOf(first.type) !== "StaticEmbedding") return undefined;
    const more = others.find(({ type }) => kindOf(type) !== "Normalize");
    if (more) {
      throw new OptionsError(
        "config",
        `${modulesFile} names a module ${kindOf(more.type)} behind StaticEmbedding: only Normalize can be computed there`,
      );
    }
    return layoutAt(innerFolder(folder, first.path, modulesFile), normalizes);
  }
  if (isModel2Vec(configuration)) return layoutAt(folder, normalizes);
  // Sentence-transformers models without a list of their modules, by their files.
  for (const inner of ["0_StaticEmbedding", ""]) {
    const place = join(folder, inner);
    if (await holdsRows(place)) return layoutAt(place, normalizes);
  }
  return undefined;
}

/**
 * The folder, within that of a model, in which its descriptions say that a static embedding model lies; "" for the model's own.
 * `undefined` where they say nothing of the kind. Its table need not be there.
 */
export async function declaredStaticFolder(folder: string): Promise<string | undefined> {
  const modulesFile = join(folder, "modules.json");
  const modules = await optionalJson(modulesFile, Modules);
  const [first] = modules ?? [];
  if (first && kindOf(first.type) === "StaticEmbedding") {
    return relative(folder, innerFolder(folder, first.path, modulesFile))
      .split(sep)
      .join("/");
  }
  if (modules) return undefined;
  return isModel2Vec(await optionalJson(join(folder, "config.json"), Configuration)) ? "" : undefined;
}

function isModel2Vec(configuration: z.output<typeof Configuration> | undefined): boolean {
  const { model_type: type, architectures } = configuration ?? {};
  return type === "model2vec" || architectures?.includes("StaticModel") === true;
}

/** `sentence_transformers.models.StaticEmbedding`: the modules have moved within the package, their names have stayed. */
function kindOf(type: string): string {
  return type.slice(type.lastIndexOf(".") + 1);
}

function innerFolder(folder: string, path: string, modulesFile: string): string {
  const inner = join(folder, path);
  const way = relative(folder, inner);
  if (isAbsolute(path) || way.startsWith("..")) {
    throw new OptionsError("config", `${modulesFile} names a folder outside the model's own: ${path}`);
  }
  return inner;
}

async function layoutAt(folder: string, normalizes: boolean): Promise<StaticLayout> {
  const [tensorFile, tokenizerFile] = [join(folder, "model.safetensors"), join(folder, "tokenizer.json")];
  await access(tokenizerFile).catch((cause: unknown) => {
    throw new OptionsError("config", `${folder} holds a static embedding model without its tokenizer.json`, { cause });
  });
  const file = await openTensors(tensorFile);
  try {
    const tensor = tensors.find((name) => file.names.includes(name));
    if (tensor === undefined) {
      const found = file.names.slice(0, 5).join(", ") || "none";
      throw new OptionsError(
        "config",
        `${tensorFile} has no tensor "embeddings" or "embedding.weight": it has ${found}`,
      );
    }
    const shape = file.shapeOf(tensor);
    if (shape.length !== 2 || shape.includes(0)) {
      const problem = `has its tensor "${tensor}" in the shape ${shape.join(" × ")}, not tokens × dimensions`;
      throw new OptionsError("config", `${tensorFile} ${problem}`);
    }
    return { tensorFile, tokenizerFile, tensor, dimension: shape[1]!, normalizes };
  } finally {
    await file.close();
  }
}

/** Whether a folder has a table of rows beside a tokenizer, and no model in ONNX, which would be another one. */
async function holdsRows(folder: string): Promise<boolean> {
  const files = ["model.safetensors", "tokenizer.json", join("onnx", "model.onnx")].map((name) => join(folder, name));
  const [hasTensors, hasTokenizer, hasOnnx] = await Promise.all(files.map(exists));
  if (!hasTensors || !hasTokenizer || hasOnnx) return false;
  const file = await openTensors(files[0]!).catch(() => undefined);
  await file?.close();
  return file !== undefined && tensors.some((name) => file.names.includes(name));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The text of a tokenizer's file. @throws OptionsError (`config`) when it cannot be read. */
export async function readDefinition(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new OptionsError("config", `${path} cannot be read`, { cause });
  });
}
