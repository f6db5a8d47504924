import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { OptionsError } from "../../core/errors.js";

/** The fields of `config_sentence_transformers.json` that are used. */
const PromptConfiguration = z.object({
  prompts: z.record(z.string(), z.string().nullable()).default({}),
  default_prompt_name: z.string().nullish(),
});

/** Prefixes that a model was trained to see before a text. */
export interface Prefixes {
  readonly queryPrefix: string;
  readonly documentPrefix: string;
}

/** The prompts of a sentence model, whose folder this is; empty where it has none. */
export async function prefixesOf(folder: string): Promise<Prefixes> {
  const configuration = await optionalJson(join(folder, "config_sentence_transformers.json"), PromptConfiguration);
  const { prompts = {}, default_prompt_name: usual } = configuration ?? {};
  const promptOf = (...names: readonly string[]) =>
    names.map((name) => prompts[name]).find((prompt) => typeof prompt === "string") ?? prompts[usual ?? ""] ?? "";
  return { queryPrefix: promptOf("query"), documentPrefix: promptOf("document", "passage", "corpus") };
}

/** The content of a file that need not be there. @throws OptionsError (`config`) when it is not what it should be. */
export async function optionalJson<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : parsedJson(file, schema, text);
}

/** @throws OptionsError (`config`) that names the file. */
export function parsedJson<Schema extends z.ZodType>(file: string, schema: Schema, text: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new OptionsError("config", `${file} is not a model's configuration`, { cause: error });
  }
}
