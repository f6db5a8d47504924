import { join } from "node:path";
import { OptionsError } from "../../core/errors.js";

/** A model of a hub. */
export interface ModelName {
  /** `owner/name`, or `name` alone. */
  readonly id: string;
  /** Branch, tag or commit. */
  readonly revision: string;
}

const mainRevision = "main";

// A segment that begins with a letter or digit is neither a folder above nor hidden.
const idPattern = /^[A-Za-z0-9][\w.-]{0,95}(?:\/[A-Za-z0-9][\w.-]{0,95})?$/;
const revisionPattern = /^[A-Za-z0-9][\w./-]{0,127}$/;

/**
 * Reads `owner/name`, `owner/name@revision`, each with or without `hf:` before it.
 *
 * @throws OptionsError (`options`) for anything else.
 */
export function parseModelName(text: string): ModelName {
  const [id = "", revision = mainRevision, ...more] = text.replace(/^hf:/, "").split("@");
  if (!idPattern.test(id) || id.includes("..") || !revisionPattern.test(revision) || more.length > 0) {
    throw new OptionsError(
      "options",
      `${JSON.stringify(text)} names no model: write owner/name, or owner/name@revision`,
    );
  }
  return { id, revision };
}

/** Name of the model on a command line. */
export function writtenName({ id, revision }: ModelName): string {
  return revision === mainRevision ? id : `${id}@${revision}`;
}

/** The model's folder among all, whose names are as they are on the hub. */
export function folderOf(models: string, { id, revision }: ModelName): string {
  return join(models, revision === mainRevision ? id : `${id}@${encodeURIComponent(revision)}`);
}

/** The name of the model in a folder, the reverse of `folderOf`. `undefined` for a folder of another name. */
export function nameOfFolder(path: string): ModelName | undefined {
  try {
    return parseModelName(decodeURIComponent(path));
  } catch {
    return undefined;
  }
}

/**
 * The name of a file on the hub, which becomes a path below the model's folder.
 *
 * @throws OptionsError (`config`) for one that would lie elsewhere or is no name on every system.
 */
export function checkedFileName(name: string, model: string): string {
  const segments = name.split("/");
  const isPlain = segments.every((segment) => /^[^\\:*?"<>|]+$/.test(segment) && !/^\.{1,2}$/.test(segment));
  const hasControls = Array.from(name).some((sign) => sign < " " || sign === "\u007f");
  if (isPlain && !hasControls) return name;
  throw new OptionsError(
    "config",
    `The hub lists a file of ${model} whose name leads out of its folder, or is none: ${JSON.stringify(name)}. Nothing was kept`,
  );
}
