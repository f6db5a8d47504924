import { readFileSync } from "node:fs";
import { dirname, resolve as resolvePath } from "node:path";
import { z } from "zod";
import { serviceNames, serviceProfile } from "../../dialects/services.js";
import { OptionsError } from "../../core/errors.js";
import { ChunkSettings } from "../../knowledge-base/ingest/settings.js";
import { retrievalSettings } from "../../knowledge-base/question-options.js";
import { isDatabaseAddress, storeFolder } from "../../store/store-address.js";
import { flagName } from "./flag-name.js";
import { key } from "./flag-values.js";
import { rowMapping } from "../../load/formats/row-mapping.js";

const Text = z.string().min(1);

/** The fields of `citewell.config.json`. */
const ConfigurationFile = z.strictObject({
  /** JSON Schema for editors; the command ignores it. */
  $schema: z.string().optional(),
  service: z.enum(serviceNames).optional(),
  /** Default: the address that `service` has for everyone. */
  baseUrl: z
    .url({ protocol: /^https?$/, error: "it must be an address that starts with http:// or https://" })
    .optional(),
  apiKey: Text.optional(),
  embeddingModel: Text.optional(),
  /** Folder of an embedding model that is computed in this process, relative to the file's folder. */
  modelFolder: Text.optional(),
  rerankModel: Text.optional(),
  chatModel: Text.optional(),
  /** Model that sees pictures, and describes them. */
  pictureModel: Text.optional(),
  /** Price of a million tokens of the embedding model, in your currency. */
  price: z.number().positive().optional(),
  /** Folder of the store, relative to the file's folder, or the address of a database. */
  store: Text.optional(),
  /** Chunk options, such as `{"strategy": "structure", "maxTokens": 384}`. */
  chunk: ChunkSettings.strict().optional(),
  /** How passages of answers are found, such as `{"mode": "hybrid", "count": 40, "topN": 6}`; `citewell tune` writes it. */
  retrieval: retrievalSettings.optional(),
  /** Columns of CSV and fields of JSON for the parts of a document, such as `{"text": "body", "title": "subject"}`. */
  rows: rowMapping.optional(),
});
export type Configuration = z.output<typeof ConfigurationFile>;

/** Settings that flags, variables and the file share, by flag name. */
const variables = {
  service: "CITEWELL_SERVICE",
  baseUrl: "CITEWELL_BASE_URL",
  apiKey: "CITEWELL_API_KEY",
  embeddingModel: "CITEWELL_EMBEDDING_MODEL",
  modelFolder: "CITEWELL_MODEL_FOLDER",
  rerankModel: "CITEWELL_RERANK_MODEL",
  chatModel: "CITEWELL_CHAT_MODEL",
  pictureModel: "CITEWELL_PICTURE_MODEL",
  store: "CITEWELL_STORE",
} as const;

const configurationFileName = "citewell.config.json";

export interface ConfigurationSources {
  readonly flags: Configuration & { readonly config?: string };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/**
 * Settings from flags, then environment variables, then `citewell.config.json` in the current folder. The first that has
 * a value wins, except that an address from that file is used with a key from that file only. A service that has an address
 * of its own names it.
 *
 * @throws OptionsError (`config`) when the file is invalid, the one that `--config` names is missing, the file in the
 * current folder has the address and not the key, or a service that has no address of its own is given none.
 */
export function readConfiguration({ flags, environment, directory }: ConfigurationSources): Configuration {
  const { config, ...fromFlags } = flags;
  const path = resolvePath(directory, config ?? configurationFileName);
  const fromVariables = Object.fromEntries(
    Object.entries(variables).flatMap(([field, name]) => (environment[name] ? [[field, key(environment[name])]] : [])),
  );
  const chosen = Object.fromEntries(Object.entries(fromFlags).filter(([, value]) => value !== undefined));
  // Each source is checked by itself, so that a message can say where the bad value is.
  for (const [field, name] of Object.entries(variables)) {
    if (fromVariables[field] !== undefined) check(() => name, { [field]: fromVariables[field] });
  }
  const checked = check(([field]) => flagName(String(field)), chosen);
  const fromFile = readFile(path, config !== undefined);
  const typed = { ...fromVariables, ...checked };
  const settings = withAddress({ ...fromFile, ...typed });
  const isTyped = "baseUrl" in typed || ("service" in typed && fromFile.baseUrl === undefined);
  if (config !== undefined || isTyped || settings.baseUrl === undefined) return settings;
  return withKeyOfFile(settings, { path, fromFile, typedKey: checked.apiKey });
}

/** The settings with the address that their service has for everyone, where they name none. */
function withAddress(settings: Configuration): Configuration {
  const { service = "contract" } = settings;
  const profile = serviceProfile(service);
  if (settings.baseUrl !== undefined || !profile) return settings;
  if (profile.baseUrl !== undefined) return { ...settings, baseUrl: profile.baseUrl };
  const message = `${service} has no address that all share: set ${variables.baseUrl} or ${flagName("baseUrl")}`;
  throw new OptionsError("config", message);
}

/**
 * The settings with the key of the file that has their address. The file in the current folder may be anybody's, as in a
 * repository from elsewhere, and is read without being named: a key from outside it would go wherever it says.
 */
function withKeyOfFile(
  settings: Configuration,
  { path, fromFile, typedKey }: { path: string; fromFile: Configuration; typedKey: string | undefined },
): Configuration {
  const { baseUrl } = settings;
  const { apiKey } = fromFile;
  if (settings.apiKey === undefined || settings.apiKey === apiKey) return settings;
  // A variable is set for every folder, and gives way to the key that belongs to the address; a flag is meant for this call.
  if (apiKey !== undefined && typedKey === undefined) return { ...settings, apiKey };
  const source = typedKey === undefined ? variables.apiKey : flagName("apiKey");
  throw new OptionsError(
    "config",
    `The key from ${source} is not sent to ${new URL(baseUrl!).origin}, an address that only ${path} names. If you trust it, ` +
      `set ${variables.baseUrl} or ${flagName("baseUrl")} to it, or put the key as apiKey into that file`,
  );
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
    // Editors on Windows may put a byte order mark at the start.
    const place = (field: readonly PropertyKey[]) => [path, field.join(".")].filter(Boolean).join(": ");
    const { store, modelFolder, ...settings } = check(place, JSON.parse(text.replace(/^\uFEFF/, "")));
    return {
      ...settings,
      ...(modelFolder !== undefined && { modelFolder: resolvePath(dirname(path), modelFolder) }),
      ...(store !== undefined && { store: isDatabaseAddress(store) ? store : storeFolder(store, dirname(path)) }),
    };
  } catch (cause) {
    if (cause instanceof OptionsError) throw cause;
    // The message of the parser ends in an excerpt of the file, which may be a key, and so it is no cause to be shown either.
    const problem = (cause as Error).message.replace(/, (?:\.\.\.)?".*$/s, "");
    throw new OptionsError("config", `${path} is not valid JSON: ${problem}`);
  }
}

/** @param place the name of a field in the source it came from. */
function check(place: (field: readonly PropertyKey[]) => string, value: unknown): Configuration {
  const parsed = ConfigurationFile.safeParse(value, { jitless: true });
  if (parsed.success) return parsed.data;
  // The message omits values: one of them may be a key.
  const problems = parsed.error.issues.map((issue) => {
    const said = issue.code === "unrecognized_keys" ? unknownKeys(issue) : issue.message;
    return `${place(issue.path)}: ${said}`;
  });
  throw new OptionsError("config", problems.join("; "));
}

function unknownKeys({ keys, path }: Pick<z.core.$ZodIssueUnrecognizedKeys, "keys" | "path">): string {
  const shape = path[0] === "chunk" ? ChunkSettings.shape : ConfigurationFile.shape;
  const named = keys.map((name) => JSON.stringify(name)).join(", ");
  const known = path.length > 1 || path[0] === "rows" ? "" : `. Settings are ${Object.keys(shape).join(", ")}`;
  return `unknown setting ${named}${known}`;
}
