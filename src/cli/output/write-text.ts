import { writeFile } from "node:fs/promises";
import { asError, OptionsError } from "../../core/errors.js";

/** @throws OptionsError when the file cannot be written. */
export async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (cause) {
    throw new OptionsError("options", `Cannot write ${path}: ${asError(cause).message}`, { cause });
  }
}
