import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ModelInfo } from "../contract/catalogue.js";
import { resolve } from "../core/options.js";
import { mount, type Environment } from "./mount-routes.js";
import { builtInEngines } from "./engines/built-in-engines.js";
import { Connections } from "../network/connections.js";
import { Faults } from "./faults/faults.js";
import { RateLimits } from "./http/rate-limits.js";
import { KeptResponses } from "./neighbours/kept-responses.js";
import { localServiceOptions, type LocalServiceOptions } from "./options.js";
import { serviceClock } from "./service-clock.js";
import { callbackReach } from "./video/callbacks.js";
import { VideoTasks } from "./video/video-tasks.js";

export type { LocalServiceOptions } from "./options.js";
export type { RequestLog } from "../network/connections.js";

/** A running service. */
export interface LocalService {
  /** The contract's `{base_url}`, without a slash at its end. */
  readonly url: string;
  /** The key that requests have to carry: the one of the options, or a random one. */
  readonly apiKey: string;
  /** The models that it serves. */
  readonly models: readonly ModelInfo[];
  /** Requests that are being answered now. */
  readonly openRequests: number;
  /**
   * Takes no more requests, lets those that are under way go on for `closeGraceMs`, ends what is left and frees the port.
   * Calling it again does nothing more.
   */
  readonly close: () => Promise<void>;
}

/** See `start-local-service.ts`. */
export async function startLocalService(options: LocalServiceOptions = {}): Promise<LocalService> {
  const settings = resolve("startLocalService", localServiceOptions, options);
  const { port, host, faults: faultOptions, modelsFolder, timeScale } = settings;
  const apiKey = settings.apiKey ?? `local-${randomBytes(18).toString("base64url")}`;
  const [{ Hono }, { createAdaptorServer }] = await Promise.all([import("hono"), import("@hono/node-server")]);
  const neural =
    modelsFolder === undefined
      ? undefined
      : await (await import("./engines/neural-models.js")).neuralModels(modelsFolder);
  const { file } = settings.video;
  const database =
    file === undefined ? undefined : (await import("./video/task-database.js")).openTaskDatabase(file, timeScale);
  const models = [...settings.models, ...(neural?.models ?? [])];
  const builtIn = builtInEngines();
  const clock = serviceClock(timeScale, database?.startSeconds);
  const faults = new Faults(faultOptions ?? {});
  let url = "";
  const tasks = new VideoTasks({
    settings: settings.video,
    clock,
    faults,
    mayCall: callbackReach(settings.video, host),
    baseUrl: () => url,
    database,
  });
  const application = new Hono<Environment>();
  mount(application, {
    ...settings,
    apiKeys: [apiKey, ...settings.moreApiKeys],
    models,
    engines: { ...(neural?.engines(builtIn) ?? builtIn), ...settings.engines },
    clock,
    faults,
    faultControl: faultOptions !== undefined,
    limits: new RateLimits(settings.rateLimits, clock),
    activeRequests: () => connections.active,
    tasks,
    responses: new KeptResponses(),
  });
  // The adaptor would put its own Request and Response in the place of the process's.
  const server = createAdaptorServer({
    fetch: application.fetch,
    overrideGlobalObjects: false,
    serverOptions: {
      headersTimeout: settings.headersTimeoutMs,
      // Clients reuse connections up to the end of the 5 s that are the default. One that ends just then loses a request.
      keepAliveTimeout: 60_000,
      requestTimeout: settings.requestTimeoutMs,
      // Interval at which both timeouts are checked; the default of 30 s would miss short ones.
      connectionsCheckingInterval: Math.min(settings.headersTimeoutMs, 5000),
    },
  }) as Server;
  const connections = new Connections(server, settings.log);
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    database?.close();
    throw error;
  }
  url = `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  tasks.resume();
  return {
    url,
    apiKey,
    models,
    get openRequests() {
      return connections.active;
    },
    close: async () => {
      tasks.close();
      await connections.close(settings.closeGraceMs);
      database?.close();
    },
  };
}
