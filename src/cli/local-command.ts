import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { OptionsError } from "../errors.js";
import { startLocalService, type LocalServiceOptions } from "../local/service.js";
import type { World } from "./command-context.js";
import { exitCodes } from "./failure.js";

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

/** Serves until it is stopped. */
export async function localCommand(world: World, flags: LocalFlags): Promise<number> {
  const { port, host, models: folder, timeScale, json } = flags;
  const service = await startLocalService({
    ...(port !== undefined && { port }),
    ...(host !== undefined && { host }),
    ...(flags.apiKey !== undefined && { apiKey: flags.apiKey }),
    ...(folder !== undefined && { modelsFolder: resolve(world.directory, folder) }),
    ...(timeScale !== undefined && { timeScale }),
    ...(flags.videoTasks !== undefined && { video: { file: resolve(world.directory, flags.videoTasks) } }),
    ...(flags.log && { log: (entry) => void world.stderr.write(`${JSON.stringify(entry)}\n`) }),
    ...(flags.faults !== undefined && { faults: readFaults(world, flags.faults) }),
  });
  const { url, models, apiKey } = service;
  world.stdout.write(
    json
      ? `${JSON.stringify({ url, apiKey })}\n`
      : `Local inference service: lexical engines, no neural model, no network.\n\n` +
          `  export CITEWELL_BASE_URL=${url}\n  export CITEWELL_API_KEY=${apiKey}\n\n` +
          `${models.map(({ id, type }) => `  ${type.padEnd(10)}${id}`).join("\n")}\n\n` +
          `What it takes: ${url}/openapi.json\n` +
          (flags.faults === undefined ? "" : `Faults: PUT, GET or DELETE ${url}/local/faults, with the key\n`) +
          "Stop it with Ctrl-C.\n",
  );
  await new Promise<void>((stopped) => {
    if (world.signal.aborted) stopped();
    world.signal.addEventListener("abort", () => stopped(), { once: true });
  });
  await service.close();
  return exitCodes.done;
}

/** Faults of a file; without a file none yet, to be set while it runs. */
function readFaults({ directory }: World, file: string | true): NonNullable<LocalServiceOptions["faults"]> {
  if (file === true) return {};
  const path = resolve(directory, file);
  try {
    return JSON.parse(readFileSync(path, "utf8")) as NonNullable<LocalServiceOptions["faults"]>;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OptionsError("config", `Faults cannot be read from ${path}: ${reason}`, { cause: error });
  }
}
