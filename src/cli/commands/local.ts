import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { asError, OptionsError } from "../../core/errors.js";
import { startLocalService, type LocalService, type LocalServiceOptions } from "../../local/service.js";
import { print, type CommandIo } from "../command-context.js";
import { exitCodes } from "../output/failure.js";

export interface LocalFlags {
  readonly port?: number;
  readonly host?: string;
  readonly apiKey?: string;
  readonly models?: string;
  readonly timeScale?: number;
  readonly videoTasks?: string;
  readonly faults?: string | true;
  readonly log?: boolean;
  readonly json?: boolean;
}

/** Serves until Ctrl-C. */
export async function localCommand(io: CommandIo, flags: LocalFlags): Promise<number> {
  const { port, host, apiKey: key, models: folder, timeScale, videoTasks, faults } = flags;
  const service = await startLocalService({
    port,
    host,
    apiKey: key,
    timeScale,
    modelsFolder: folder && resolve(io.directory, folder),
    video: videoTasks === undefined ? {} : { file: resolve(io.directory, videoTasks) },
    log: flags.log ? (entry) => void io.stderr.write(`${JSON.stringify(entry)}\n`) : undefined,
    faults: faults === undefined ? undefined : readFaults(io, faults),
  });
  const { url, apiKey } = service;
  const text = localBanner(service, folder && resolve(io.directory, folder), faults !== undefined);
  print(io, flags, { url, apiKey }, text);
  await new Promise<void>((stopped) => {
    if (io.signal.aborted) stopped();
    io.signal.addEventListener("abort", () => stopped(), { once: true });
  });
  await service.close();
  return exitCodes.done;
}

/** Start message of the service: which engines answer, how to reach it, and which models it serves. */
export function localBanner(
  { url, apiKey, models }: Pick<LocalService, "url" | "apiKey" | "models">,
  modelsFolder: string | undefined,
  takesFaults: boolean,
): string {
  const engines = modelsFolder
    ? `neural models of ${modelsFolder} and lexical engines`
    : "lexical engines, no neural model";
  return (
    `Local inference service: ${engines}, no network.\n\n` +
    `  export CITEWELL_BASE_URL=${url}\n  export CITEWELL_API_KEY=${apiKey}\n\n` +
    `${models.map(({ id, type }) => `  ${type.padEnd(10)}${id}`).join("\n")}\n\n` +
    `Its API: ${url}/openapi.json\n` +
    `For clients of OpenAI, Cohere or Jina: ${url}/v1, ${url}/v2/rerank\n` +
    (takesFaults ? `Faults: PUT, GET or DELETE ${url}/local/faults, with the key\n` : "") +
    "Stop it with Ctrl-C.\n"
  );
}

/** Faults from a file. Without a file there are none yet; they can be set while the service runs. */
function readFaults({ directory }: CommandIo, file: string | true): NonNullable<LocalServiceOptions["faults"]> {
  if (file === true) return {};
  const path = resolve(directory, file);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as NonNullable<LocalServiceOptions["faults"]>;
  } catch (error) {
    throw new OptionsError("config", `Cannot read faults from ${path}: ${asError(error).message}`, { cause: error });
  }
}
