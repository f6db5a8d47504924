import { startLocalService } from "../local/service.js";
import type { World } from "./command-context.js";
import { exitCodes } from "./failure.js";

export interface LocalFlags {
  readonly port?: number;
  readonly host?: string;
  readonly apiKey?: string;
  readonly json?: boolean;
}

/** Serves until it is stopped. */
export async function localCommand(world: World, { port, host, apiKey, json }: LocalFlags): Promise<number> {
  const service = await startLocalService({
    ...(port !== undefined && { port }),
    ...(host !== undefined && { host }),
    ...(apiKey !== undefined && { apiKey }),
  });
  const { url, models } = service;
  world.stdout.write(
    json
      ? `${JSON.stringify({ url, apiKey: service.apiKey })}\n`
      : `Local inference service: lexical engines, no neural model, no network.\n\n` +
          `  export CITEWELL_BASE_URL=${url}\n  export CITEWELL_API_KEY=${service.apiKey}\n\n` +
          `${models.map(({ id, type }) => `  ${type.padEnd(10)}${id}`).join("\n")}\n\nStop it with Ctrl-C.\n`,
  );
  await new Promise<void>((resolve) => {
    if (world.signal.aborted) resolve();
    world.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await service.close();
  return exitCodes.done;
}
