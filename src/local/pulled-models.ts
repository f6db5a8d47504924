import { readFileSync, statSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { OptionsError } from "../core/errors.js";
import { folderOf, nameOfFolder, parseModelName, writtenName } from "./hub/model-name.js";

/** Name of the manifest, which is written last: a folder with it is complete. */
const manifestName = "citewell-model.json";

/** A model that was downloaded. */
export interface PulledModel {
  /** `owner/name`, or `name` alone. */
  readonly id: string;
  /** Branch, tag or commit that was asked for. */
  readonly revision: string;
  /** Commit that it was at. */
  readonly commit: string;
  /** Size of its files, in bytes. */
  readonly sizeBytes: number;
  /** Path of its folder. */
  readonly folder: string;
}

/** The manifest of a model: its description, and the hash of each of its files. */
interface Manifest extends Omit<PulledModel, "folder"> {
  readonly files: Readonly<Record<string, string>>;
}

/** @internal */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeFile(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The model in a folder; `undefined` where none was downloaded whole. @internal */
export function readManifest(folder: string): PulledModel | undefined {
  try {
    const { id, revision, commit, sizeBytes, files } = JSON.parse(
      readFileSync(join(folder, manifestName), "utf8"),
    ) as Manifest;
    const names = Object.keys(files);
    const isWhole = names.every((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
    return isWhole ? { id, revision, commit, sizeBytes, folder } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The models that `pullModel` has put into a folder, by their names. Empty where there is no folder.
 *
 * @example
 * ```ts
 * import { pulledModels } from "citewell/local";
 * for (const { id, folder } of await pulledModels("./models")) console.log(id, folder);
 * ```
 */
export async function pulledModels(folder: string): Promise<readonly PulledModel[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const places = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => {
        const inner = await readdir(join(folder, name), { withFileTypes: true });
        return [name, ...inner.filter((entry) => entry.isDirectory()).map((entry) => join(name, entry.name))];
      }),
  );
  const found = places
    .flat()
    .filter((path) => nameOfFolder(path.split(sep).join("/")))
    .map((path) => readManifest(join(folder, path)));
  return found
    .filter((model) => model !== undefined)
    .toSorted((a, b) => (relative(folder, a.folder) < relative(folder, b.folder) ? -1 : 1));
}

/**
 * The folder of a model that was downloaded.
 *
 * @param name as `pullModel` takes it, with or without `hf:` before it.
 * @throws OptionsError (`config`) when it is not there.
 * @example
 * ```ts
 * import { findPulledModel } from "citewell/local";
 * const folder = findPulledModel("owner/small-embeddings", "./models");
 * ```
 */
export function findPulledModel(name: string, models: string): string {
  const model = parseModelName(name);
  const folder = folderOf(models, model);
  if (readManifest(folder)) return folder;
  const written = writtenName(model);
  throw new OptionsError(
    "config",
    `The model ${written} is not in ${models}: download it with citewell models pull ${written}`,
  );
}
