import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { isRecord, parsedJson } from "../../core/json.js";
import { given } from "../../core/given.js";
import { OptionsError } from "../../core/errors.js";
import type { TunedSettings } from "../../tuning/candidate-settings.js";
import type { CommandIo } from "../command-context.js";
import { writeText } from "../output/write-text.js";

/** Writes the settings into a settings file, and leaves everything else in it as it is. */
export async function writeSettings(path: string, { chunk, retrieval, models = {} }: TunedSettings): Promise<void> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw new OptionsError("config", `Cannot read ${path}: ${error.message}`, { cause: error });
  });
  const before = parsedJson(text.replace(/^\uFEFF/, ""));
  if (!isRecord(before))
    throw new OptionsError("config", `${path} is not valid JSON: mend it, and run the same command again`);
  const kept = isRecord(before["chunk"]) ? before["chunk"] : {};
  const { embedding, rerank } = models;
  const { embeddingModel, modelFolder, ...others } = before;
  const written = {
    ...others,
    // A settings file names the embedding model or its folder, never both.
    ...(embedding === undefined && given({ embeddingModel, modelFolder })),
    ...(typeof embedding === "string" && { embeddingModel: embedding }),
    ...(typeof embedding === "object" && { modelFolder: embedding.folder }),
    ...(rerank !== undefined && { rerankModel: rerank }),
    chunk: { ...kept, ...chunk },
    retrieval,
  };
  await writeText(path, `${JSON.stringify(written, null, 2)}\n`);
}

/** Whether the user agrees; without a terminal to ask on, nobody does. */
export async function agrees({ stdin, stderr, signal }: CommandIo, question: string): Promise<boolean> {
  if (!stdin.isTTY || !stderr.isTTY) return false;
  stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: stdin });
  try {
    const answer = await lines.question("", { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
