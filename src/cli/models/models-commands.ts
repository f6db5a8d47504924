import { pathToFileURL } from "node:url";
import type { PulledModel } from "../../local/pulled-models.js";
import { given } from "../../core/given.js";
import { OptionsError } from "../../core/errors.js";
import { explainStop, modelsFolder, print, proxySettings, type CommandIo } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { bytes } from "../output/figures.js";
import { progressLine } from "../output/progress.js";
import { displayUri } from "../output/terminal-text.js";

interface Flags {
  readonly json?: boolean;
}

const defaultEndpoint = "https://huggingface.co";

export async function modelsCommand(io: CommandIo, flags: Flags): Promise<number> {
  const { pulledModels } = await import("../../local/pulled-models.js");
  const folder = modelsFolder(io);
  const models = await pulledModels(folder);
  const none = `No model is in ${displayUri(pathToFileURL(folder).href, io)}. Download one: citewell models pull minishlab/potion-base-8M\n`;
  const lines = models.map((model) => `${bytes(model.sizeBytes).padStart(9)}  ${nameOf(model)}\n`);
  print(io, flags, models, lines.length === 0 ? none : lines.join(""));
  return exitCodes.done;
}

/** The name by which `--embedding-model` finds it. */
function nameOf({ id, revision }: PulledModel): string {
  return `hf:${id}${revision === "main" ? "" : `@${revision}`}`;
}

export async function pullModelCommand(io: CommandIo, name: string, flags: Flags): Promise<number> {
  const { pullModel } = await import("../../local/pull-model.js");
  const { environment, signal } = io;
  const endpoint = environment["HF_ENDPOINT"] || defaultEndpoint;
  if (!URL.canParse(endpoint)) {
    throw new OptionsError("config", "HF_ENDPOINT is no address: it must start with https:// or http://");
  }
  const line = progressLine<{ file: string; bytes: number; totalBytes: number }>(
    io.notes,
    ({ file, bytes: there, totalBytes }) => `${bytes(there)} of ${bytes(totalBytes)}  ${file}`,
  );
  const pulling = pullModel(name, {
    folder: modelsFolder(io),
    endpoint,
    ...given({ token: environment["HF_TOKEN"]?.trim() || undefined }),
    ...proxySettings(endpoint, environment),
    signal,
    onProgress: line.update,
  }).finally(line.clear);
  const stopped = "Stopped; what has arrived is kept. Run the same command again to go on.\n";
  const model = await explainStop(io, stopped, pulling);
  const text =
    `${nameOf(model)} is in ${displayUri(pathToFileURL(model.folder).href, io)} (${bytes(model.sizeBytes)}).\n` +
    `Use it: citewell index ./docs --embedding-model ${nameOf(model)}\n`;
  print(io, flags, model, text);
  return exitCodes.done;
}
