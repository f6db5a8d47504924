import { OptionsError } from "../../errors.js";

/** A tensor, as far as it is read here. */
export interface Tensor {
  readonly data: ArrayLike<number>;
  /** Rows, then numbers in a row. */
  readonly dims: readonly number[];
}

/** What is used of `@huggingface/transformers`, version 3 and later. */
export interface Transformers {
  readonly env: { allowRemoteModels: boolean; localModelPath: string };
  readonly pipeline: (
    task: "feature-extraction",
    model: string,
  ) => Promise<(texts: readonly string[], options: object) => Promise<Tensor>>;
  readonly AutoTokenizer: {
    readonly from_pretrained: (model: string) => Promise<(texts: readonly string[], options: object) => object>;
  };
  readonly AutoModelForSequenceClassification: {
    readonly from_pretrained: (
      model: string,
    ) => Promise<(inputs: object) => Promise<{ readonly logits: { readonly sigmoid: () => Tensor } }>>;
  };
}

// In a variable, so that the compiler does not look for a package that need not be there.
const packageName = "@huggingface/transformers";

/**
 * The package, told to read models from a folder and from nowhere else.
 * @throws {OptionsError} `missing-package` when it is not installed.
 */
export async function loadTransformers(folder: string): Promise<Transformers> {
  let transformers: Transformers;
  try {
    transformers = (await import(packageName)) as Transformers;
  } catch (error) {
    throw new OptionsError(
      "missing-package",
      `Models of a folder need the package ${packageName}, which cannot be loaded. Install it: npm install ${packageName}`,
      { cause: error },
    );
  }
  transformers.env.allowRemoteModels = false;
  transformers.env.localModelPath = folder;
  return transformers;
}
