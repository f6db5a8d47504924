import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { localModels, type ModelInfo } from "../contract/catalogue.js";
import { defaultMaxBatchTexts } from "../contract/embeddings.js";
import { resolve } from "../options.js";
import { mount } from "./application.js";
import { chatEngine } from "./chat/chat-engine.js";
import { visionEngine } from "./chat/vision-engine.js";
import { lexicalEmbedding } from "./embedding/lexical-embedding.js";
import type { Engines } from "./engines.js";
import { lexicalRerank } from "./rerank/lexical-rerank.js";
import { routes } from "./routes.js";

export const LocalServiceOptions = z.strictObject({
  /** 0 to 65535; 0 takes any free port. Default: 0. */
  port: z.int().min(0).max(65_535).default(0),
  /** Address to listen on. Default: 127.0.0.1, which other machines cannot reach. */
  host: z.string().min(1).default("127.0.0.1"),
  /** What callers must send as `Authorization: Bearer …`. Default: a random key, found in `LocalService.apiKey`. */
  apiKey: z.string().regex(/^\S+$/, "must be one word").optional(),
  /** Models to publish. Default: `localModels` of the contract. */
  models: z.custom<readonly ModelInfo[]>(Array.isArray, "must be an array of models").default(localModels),
  /** Most texts in one embeddings request, 1 or more. Default: 32. */
  maxBatchTexts: z.int().min(1).default(defaultMaxBatchTexts),
  /** Most choices that a chat request may ask for as `n`, 1 or more. Default: 8. */
  maxChoices: z.int().min(1).default(8),
  /** Pause before each streamed event, in milliseconds, to see what a slow model looks like. 0 or more. Default: 0. */
  eventDelayMs: z.number().min(0).default(0),
  /** Engines that replace the built-in ones. Default: none. */
  engines: z
    .custom<Partial<Engines>>((value) => typeof value === "object" && value !== null, "must be an object of engines")
    .default({}),
});
export type LocalServiceOptions = z.input<typeof LocalServiceOptions>;

/** A running service. */
export interface LocalService {
  /** The contract's `{base_url}`, without a slash at its end. */
  readonly url: string;
  readonly apiKey: string;
  readonly models: readonly ModelInfo[];
  /** Ends open requests and frees the port. Calling it again does nothing more. */
  readonly close: () => Promise<void>;
}

/**
 * Serves the contract over HTTP in this process, with engines that need no network and no weights: they count words,
 * they do not understand them. Resolves once it listens; rejects with the system's error when the port is taken.
 * @throws {OptionsError} when an option is unknown or out of range.
 */
export async function startLocalService(options: LocalServiceOptions = {}): Promise<LocalService> {
  const { port, host, apiKey, models, engines, ...context } = resolve(
    "startLocalService",
    LocalServiceOptions,
    options,
  );
  const key = apiKey ?? `local-${randomBytes(18).toString("base64url")}`;
  const [{ Hono }, { createAdaptorServer }] = await Promise.all([import("hono"), import("@hono/node-server")]);
  const application = new Hono();
  mount(application, routes, key, { ...context, models, engines: { ...builtInEngines(), ...engines } });
  // The adaptor would put its own Request and Response in the place of the process's.
  const server = createAdaptorServer({ fetch: application.fetch, overrideGlobalObjects: false }) as Server;
  await listen(server, port, host);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    apiKey: key,
    models,
    close: () => shut(server),
  };
}

function builtInEngines(): Engines {
  return { embedding: lexicalEmbedding(), rerank: lexicalRerank(), chat: chatEngine(), vision: visionEngine() };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((listening, failed) => {
    server.once("error", failed);
    server.listen(port, host, () => {
      server.off("error", failed);
      listening();
    });
  });
}

function shut(server: Server): Promise<void> {
  return new Promise((closed) => {
    // The callback's error says only that it was closed before.
    server.close(() => closed());
    server.closeAllConnections();
  });
}
