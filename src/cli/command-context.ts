import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { OptionsError } from "../core/errors.js";
import { findPulledModel } from "../local/pulled-models.js";
import type { ChunkSettings } from "../knowledge-base/ingest/settings.js";
import type { ModelChoice } from "../knowledge-base/connect-models.js";
import { openKnowledgeBase } from "../knowledge-base/open.js";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import type { WebOptions } from "../load/web/web-options.js";
import type { PostgresStoreOptions } from "../store/postgres/options.js";
import { isDatabaseAddress, storeFolder } from "../store/store-address.js";
import { createTransport, type Transport } from "../transport/transport.js";
import { readConfiguration, type Configuration } from "./settings/configuration.js";
import { clearLine, safeForTerminal } from "./output/terminal-text.js";
import { given } from "../core/given.js";

/** The streams, environment and folder that a command works with. Tests pass their own. */
export interface CommandIo {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, "isTTY" | "columns">>;
  readonly stderr: Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;
  /** Progress, and notes that help but change nothing: stderr, or nothing with `--quiet`. */
  readonly notes: CommandIo["stderr"];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Current folder. */
  readonly directory: string;
  /** Home folder of the user; paths are shown relative to it when that is shorter. */
  readonly home?: string;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Prints a result: one JSON object with `--json`, text otherwise. */
export function print(io: CommandIo, { json }: { json?: boolean }, value: object, text: string): void {
  io.stdout.write(json ? `${JSON.stringify(value)}\n` : safeForTerminal(text));
}

/** Runs the work, and prints a line if Ctrl-C stops it. */
export async function explainStop<T>(io: CommandIo, line: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (io.signal.aborted) io.stderr.write(line);
    throw error;
  }
}

/** Passes `use` a temporary folder that is always deleted afterwards. */
export async function withTemporaryFolder<T>(name: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `citewell-${name}-`));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Flags that say how documents are cut. */
export interface ChunkFlags {
  readonly strategy?: NonNullable<ChunkSettings["strategy"]>;
  readonly chunkTokens?: number;
  readonly overlapTokens?: number;
  readonly parentTokens?: number;
}

/** Flags that every command with a store takes. */
export interface StoreFlags extends Omit<Configuration, "chunk">, ChunkFlags {
  readonly config?: string;
  readonly json?: boolean;
  /** Schema of the store, where its place is the address of a database. */
  readonly schema?: string;
  /** Spreads a new store over the nodes of a cluster, with this number of shards. */
  readonly distributed?: number | true;
}

/** The option of a store from a flag that may have a number of shards. */
export function distributedOf({ distributed }: Pick<StoreFlags, "distributed">): PostgresStoreOptions["distributed"] {
  if (distributed === undefined) return undefined;
  return distributed === true ? {} : { shards: distributed };
}

/**
 * Settings from flags, environment variables and the configuration file. A model that was downloaded (`hf:…`) is its folder.
 *
 * @throws OptionsError (`config`) when it was not.
 */
export function readSettings(io: CommandIo, flags: StoreFlags): Configuration {
  const { environment, directory } = io;
  const { config, service, baseUrl, apiKey, embeddingModel, modelFolder, rerankModel, chatModel, pictureModel } = flags;
  const { price, store, rows } = flags;
  const read = readConfiguration({
    flags: {
      config,
      service,
      baseUrl,
      apiKey,
      embeddingModel,
      modelFolder,
      rerankModel,
      chatModel,
      pictureModel,
      price,
      store,
      rows,
    },
    environment,
    directory,
  });
  const settings = flags.schema === undefined ? read : { ...read, store: addressWithin(flags.schema, read.store) };
  const { strategy, chunkTokens: maxTokens, overlapTokens, parentTokens } = flags;
  const chunk = { ...settings.chunk, ...given({ strategy, maxTokens, overlapTokens, parentTokens }) };
  const { embeddingModel: named, ...others } = settings;
  if (!named?.startsWith("hf:") || others.modelFolder !== undefined) return { ...settings, chunk };
  return { ...others, chunk, modelFolder: findPulledModel(named, modelsFolder(io)) };
}

/** The address of a database with the schema that `--schema` names in it. */
function addressWithin(schema: string, store = ""): string {
  if (!isDatabaseAddress(store)) {
    const hint = "name its address, as in --store postgres://user@host/name, or leave out --schema";
    throw new OptionsError("options", `--schema names a part of a PostgreSQL database: ${hint}`);
  }
  if (!URL.canParse(store)) return store;
  const address = new URL(store);
  address.searchParams.set("schema", schema);
  return address.href;
}

/**
 * Folder in which downloaded models lie: `CITEWELL_MODELS`, or `.cache/citewell/models` in the user's own.
 *
 * @throws OptionsError (`config`) for a user without a folder of their own who names none.
 */
export function modelsFolder({
  environment,
  directory,
  home = "",
}: Pick<CommandIo, "environment" | "directory" | "home">): string {
  const named = environment["CITEWELL_MODELS"];
  if (named) return resolve(directory, named);
  if (home !== "") return join(home, ".cache", "citewell", "models");
  throw new OptionsError("config", "There is no home folder to keep models in: set CITEWELL_MODELS to a folder");
}

/**
 * Place of the store that the settings name: a folder, or the address of a database.
 *
 * @throws OptionsError when a file is in the way of the folder.
 */
export function storePath({ directory }: Pick<CommandIo, "directory">, { store = ".citewell" }: Configuration): string {
  if (isDatabaseAddress(store)) return store;
  const path = storeFolder(store, directory);
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    if (statSync(folder, { throwIfNoEntry: false })?.isFile()) {
      throw new OptionsError(
        "options",
        `There can be no store at ${path}: ${folder} is a file. Name a folder with --store`,
      );
    }
  }
  return path;
}

/**
 * A transport to the service that the settings name, or `undefined` if they name none; each of its warnings stands once on
 * stderr. The model that describes pictures is known as one that sees. The caller closes it.
 */
export function configuredTransport(
  { environment, stderr }: Pick<CommandIo, "environment" | "stderr">,
  { service, baseUrl, apiKey, pictureModel }: Configuration,
): Transport | undefined {
  if (baseUrl === undefined) return undefined;
  const shown = new Set<string>();
  return createTransport({
    baseUrl,
    ...given({ service, apiKey }),
    ...(pictureModel !== undefined && { models: [{ id: pictureModel, type: "vlm" }] }),
    ...proxySettings(baseUrl, environment),
    onEvent: (event) => {
      if (event.type !== "warning") return;
      const line = `citewell: ${event.operation} by ${event.model}: ${event.message}\n`;
      // On a terminal the warning may come within a line of the answer or of the progress.
      if (!shown.has(line)) stderr.write(stderr.isTTY ? `\n${line}` : line);
      shown.add(line);
    },
  });
}

/**
 * The embedding model that the settings name: by its id, or by the folder that it is in.
 *
 * @throws OptionsError when both are named.
 */
export function embeddingModelOf(
  { directory }: Pick<CommandIo, "directory">,
  { embeddingModel, modelFolder }: Configuration,
): ModelChoice["embedding"] {
  if (modelFolder === undefined) return embeddingModel;
  if (embeddingModel !== undefined) {
    const both = `the model ${embeddingModel} and the folder ${modelFolder}`;
    throw new OptionsError("config", `Two embedding models are named, ${both}: leave out one of them`);
  }
  return { folder: resolve(directory, modelFolder) };
}

/** Opens the store and the service that the settings name, and closes both after `use`. */
export async function withKnowledgeBase<T>(
  io: CommandIo,
  flags: StoreFlags,
  create: boolean,
  use: (kb: KnowledgeBase, settings: Configuration) => Promise<T>,
): Promise<T> {
  const settings = readSettings(io, flags);
  const transport = configuredTransport(io, settings);
  const kb = await openKnowledgeBase({
    path: storePath(io, settings),
    create,
    ...given({ distributed: distributedOf(flags) }),
    transport,
    chunk: settings.chunk,
    ...given({ retrieval: settings.retrieval }),
    models: {
      embedding: embeddingModelOf(io, settings),
      rerank: settings.rerankModel,
      chat: settings.chatModel,
      picture: settings.pictureModel,
    },
    onWarning: (message) => io.stderr.write(`citewell: ${message}\n`),
  });
  try {
    return await use(kb, settings);
  } finally {
    await explainSlowClose(io, () => kb.close({ signal: io.signal }));
    await transport?.close();
  }
}

/**
 * Waits for a store to close. A large one takes a while, because its search index is updated and saved: after `quietMs`
 * a line says so, and that ending the command now loses nothing.
 */
export async function explainSlowClose(
  { notes, signal }: Pick<CommandIo, "notes" | "signal">,
  close: () => Promise<void>,
  quietMs = 1500,
): Promise<void> {
  const timer = setTimeout(() => {
    const sentence = signal.aborted
      ? "Saving the search index. Press Ctrl-C again to end at once: nothing is lost, the next command saves it."
      : "Updating the search index. Ctrl-C ends that and loses nothing: the next command goes on with it.";
    notes.write(`${notes.isTTY ? clearLine : ""}${sentence}\n`);
  }, quietMs);
  try {
    await close();
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The proxy for an address, from the usual variables: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, `ALL_PROXY` for both,
 * `NO_PROXY`. Lower case wins, as in curl (https://everything.curl.dev/usingcurl/proxies/env.html). Loopback addresses
 * never go through a proxy, which would look for them on its own machine (https://pkg.go.dev/net/http#ProxyFromEnvironment).
 */
export function proxySettings(
  baseUrl: string,
  environment: CommandIo["environment"],
): { readonly proxyUrl?: string; readonly noProxy?: string[] } {
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname)) return {};
  const { http, https, noProxy } = proxies(environment);
  const proxyUrl = baseUrl.startsWith("https:") ? https : http;
  return proxyUrl === undefined ? {} : { proxyUrl, noProxy };
}

/** The proxies for web pages, from the same variables. */
export function webProxySettings(
  environment: CommandIo["environment"],
): Pick<WebOptions, "httpProxyUrl" | "httpsProxyUrl" | "noProxy"> {
  const { http, https, noProxy } = proxies(environment);
  if (http === undefined && https === undefined) return {};
  return { ...given({ httpProxyUrl: http, httpsProxyUrl: https }), noProxy: [...noProxy, ...thisMachine] };
}

const thisMachine = ["localhost", "127.0.0.1", "[::1]"];

function proxies(environment: CommandIo["environment"]) {
  const read = (name: string) => environment[name.toLowerCase()] || environment[name] || undefined;
  const address = (name: string) => {
    const url = read(name) ?? read("ALL_PROXY");
    return url === undefined || /^[a-z][a-z\d+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  };
  const noProxy = (read("NO_PROXY") ?? "").split(/[\s,]+/).filter((host) => host !== "");
  return { http: address("HTTP_PROXY"), https: address("HTTPS_PROXY"), noProxy };
}
