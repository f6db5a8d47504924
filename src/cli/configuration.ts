import { readFileSync } from "node:fs";
import { dirname, resolve as resolvePath } from "node:path";
import { z } from "zod";
import { OptionsError } from "../errors.js";
import { ChunkSettings } from "../stages/kept-settings.js";
import { RowMapping } from "../load/rows/row-mapping.js";

const Text = z.string().min(1);

/** What `citewell.config.json` may hold. */
const ConfigurationFile = z.strictObject({
  /** For editors. */
  $schema: z.string().optional(),
  baseUrl: z
    .url({ protocol: /^https?$/, error: "it must be an address that begins with http:// or https://" })
    .optional(),
  apiKey: Text.optional(),
  embeddingModel: Text.optional(),
  rerankModel: Text.optional(),
  chatModel: Text.optional(),
  /** Price of a million tokens of the embedding model, in your currency. */
  price: z.number().positive().optional(),
  /** Folder of the store, relative to the file's folder. */
  store: Text.optional(),
  /** How documents are cut: `{"strategy": "structure", "maxTokens": 384}`. */
  chunk: ChunkSettings.strict().optional(),
  /** Which columns of CSV and fields of JSON are which part of a document: `{"text": "body", "title": "subject"}`. */
  rows: RowMapping.optional(),
});
export type Configuration = z.output<typeof ConfigurationFile>;

/** Settings that flags, variables and the file share, by flag name. */
const variables = {
  baseUrl: "CITEWELL_BASE_URL",
  apiKey: "CITEWELL_API_KEY",
  embeddingModel: "CITEWELL_EMBEDDING_MODEL",
  rerankModel: "CITEWELL_RERANK_MODEL",
  chatModel: "CITEWELL_CHAT_MODEL",
} as const;

const configurationFileName = "citewell.config.json";

export interface ConfigurationSources {
  readonly flags: Configuration & { readonly config?: string };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/**
 * Settings from flags, then environment variables, then `citewell.config.json` in the current folder: the first that
 * speaks wins.
 *
 * @throws OptionsError (`config`) when the file is not valid, or a named one is not there.
 */
export function readConfiguration({ flags, environment, directory }: ConfigurationSources): Configuration {
  const { config, ...fromFlags } = flags;
  const path = resolvePath(directory, config ?? configurationFileName);
  const fromVariables = Object.fromEntries(
    Object.entries(variables).flatMap(([field, name]) => (environment[name] ? [[field, environment[name]]] : [])),
  );
  const chosen = Object.fromEntries(Object.entries(fromFlags).filter(([, value]) => value !== undefined));
  // Each by itself, so that a message can say where the bad value stands.
  for (const [field, name] of Object.entries(variables)) {
    if (fromVariables[field] !== undefined) check(() => name, { [field]: fromVariables[field] });
  }
  const checked = check(([field]) => `--${kebabCase(String(field))}`, chosen);
  return { ...readFile(path, config !== undefined), ...fromVariables, ...checked };
}

function readFile(path: string, required: boolean): Configuration {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (!required && (cause as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new OptionsError("config", `Cannot read the configuration file ${path}: ${(cause as Error).message}`, {
      cause,
    });
  }
  try {
    // Editors of Windows begin a file with a mark of its byte order.
    const place = (field: readonly PropertyKey[]) => [path, field.join(".")].filter(Boolean).join(": ");
    const { store, ...settings } = check(place, JSON.parse(text.replace(/^\uFEFF/, "")));
    return { ...settings, ...(store !== undefined && { store: resolvePath(dirname(path), store) }) };
  } catch (cause) {
    if (cause instanceof OptionsError) throw cause;
    throw new OptionsError("config", `${path} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

/** @param place what a field is called where it was written. */
function check(place: (field: readonly PropertyKey[]) => string, value: unknown): Configuration {
  const parsed = ConfigurationFile.safeParse(value);
  if (parsed.success) return parsed.data;
  // Values stay out of the message: one of them may be a key.
  const problems = parsed.error.issues.map((issue) => {
    const said = issue.code === "unrecognized_keys" ? unknownKeys(issue) : issue.message;
    return `${place(issue.path)}: ${said}`;
  });
  throw new OptionsError("config", problems.join("; "));
}

/** `--base-url` of `baseUrl`. */
function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function unknownKeys({
  keys,
  path,
}: {
  readonly keys: readonly string[];
  readonly path: readonly PropertyKey[];
}): string {
  const shape = path[0] === "chunk" ? ChunkSettings.shape : ConfigurationFile.shape;
  const named = keys.map((key) => JSON.stringify(key)).join(", ");
  const known = path.length > 1 || path[0] === "rows" ? "" : `: there are ${Object.keys(shape).join(", ")}`;
  return `${named} is no setting${known}`;
}
