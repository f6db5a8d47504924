import { asError, OptionsError } from "../../core/errors.js";

type Tokenizers = typeof import("@huggingface/tokenizers");
/** A tokenizer of the package, made from a model's `tokenizer.json`. */
export type ModelTokenizer = InstanceType<Tokenizers["Tokenizer"]>;

// In a variable, so that the package is loaded only when a tokenizer is wanted.
const packageName = "@huggingface/tokenizers";

/**
 * Makes the tokenizer that a `tokenizer.json` defines, with the optional package `@huggingface/tokenizers`.
 *
 * @param path Path of the file that `definition` was read from, for messages.
 * @param settings Content of the `tokenizer_config.json` beside it. Default: none.
 * @throws OptionsError `missing-package` without the package, `options` for a definition that it cannot use.
 */
export async function modelTokenizer(path: string, definition: string, settings = "{}"): Promise<ModelTokenizer> {
  const { Tokenizer } = await loadTokenizers();
  try {
    const tokenizer = new Tokenizer(JSON.parse(definition) as object, JSON.parse(settings) as object);
    tokenizer.encode("a");
    return tokenizer;
  } catch (cause) {
    throw new OptionsError("options", `${path} is no tokenizer.json that can be used: ${asError(cause).message}`, {
      cause,
    });
  }
}

async function loadTokenizers(): Promise<Tokenizers> {
  try {
    return (await import(packageName)) as Tokenizers;
  } catch (cause) {
    throw new OptionsError(
      "missing-package",
      `A model's tokenizer.json needs the package ${packageName}, which cannot be loaded. Install it: npm install ${packageName}`,
      { cause },
    );
  }
}
