import { serviceProfile } from "../../dialects/services.js";
import { asError, TransportError } from "../../core/errors.js";
import { modelIn } from "../../knowledge-base/connect-models.js";
import { openStoreAt } from "../../store/open-store-at.js";
import { checkNativeModules } from "../../store/native-modules.js";
import {
  type CommandIo,
  configuredTransport,
  embeddingModelOf,
  print,
  proxySettings,
  readSettings,
  type StoreFlags,
  storePath,
  webProxySettings,
} from "../command-context.js";
import { installedVersion, optionalPackages } from "../explain/optional-packages.js";
import { exitCodes } from "../output/failure.js";
import { counted } from "../output/figures.js";
import type { Configuration } from "../settings/configuration.js";

/** Result of one check. */
interface Finding {
  readonly check: string;
  /** `note`: it works, but with less than it could. */
  readonly result: "ok" | "note" | "problem";
  readonly message: string;
}

const minNode = [20, 19] as const;
const maxReplyMs = 10_000;

/** Checks everything that a first run needs, and says what is wrong and what to do. Changes and spends nothing. */
export async function doctorCommand(io: CommandIo, flags: StoreFlags): Promise<number> {
  const findings: Finding[] = [node(process.versions.node), ...(await nativeModules())];
  const settings = await asFinding("settings", () => readSettings(io, flags));
  if ("finding" in settings) findings.push(settings.finding);
  else {
    findings.push(...(await service(io, settings.value)));
    const model = await asFinding("embedding model", () => spaceOf(io, settings.value));
    if ("finding" in model) findings.push(model.finding);
    else {
      const { modelFolder } = settings.value;
      if (modelFolder !== undefined) findings.push({ check: "embedding model", result: "ok", message: model.value });
      findings.push(await store(io, settings.value, model.value));
    }
  }
  findings.push(...proxy(io, "value" in settings ? settings.value : {}), ...optional());
  const lines = findings.map(({ check, result, message }) => `${marks[result]} ${check}: ${message}`);
  print(io, flags, findings, `${lines.join("\n")}\n`);
  return findings.some(({ result }) => result === "problem") ? exitCodes.failures : exitCodes.done;
}

const marks = { ok: "✓", note: "–", problem: "✗" } as const;

function node(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < minNode[0] || (major === minNode[0] && minor < minNode[1]);
  return isOld
    ? { check: "Node", result: "problem", message: `${version} is too old. Install Node ${minNode.join(".")} or newer` }
    : { check: "Node", result: "ok", message: version };
}

/** The proxy of the environment, without its credentials; nothing where none is set. */
function proxy({ environment }: CommandIo, { baseUrl }: Configuration): Finding[] {
  const { httpProxyUrl, httpsProxyUrl } = webProxySettings(environment);
  const shown = [...new Set([httpsProxyUrl, httpProxyUrl])].filter((url) => url !== undefined);
  if (shown.length === 0) return [];
  const origins = shown.map((url) => (URL.canParse(url) ? new URL(url).origin : "an address that is none"));
  const bad = shown.some((url) => !/^https?:\/\//.test(url) || !URL.canParse(url));
  const bypassed = baseUrl !== undefined && proxySettings(baseUrl, environment).proxyUrl === undefined;
  const message = `${origins.join(" and ")}, by the environment${bypassed ? "; the service is reached without it" : ""}`;
  return [
    { check: "proxy", result: bad ? "problem" : "ok", message: bad ? `${message}: write http://host:port` : message },
  ];
}

async function nativeModules(): Promise<Finding[]> {
  return (await checkNativeModules()).map(({ name, required, problem }) => {
    if (problem === undefined) return { check: name, result: "ok", message: "loaded" };
    if (required) return { check: name, result: "problem", message: problem };
    const lines = problem.split("\n")[0];
    return {
      check: name,
      result: "note",
      message: `not loaded (${lines}); only stores opened with quantization "none" use it: npm install ${name}`,
    };
  });
}

/** The optional packages: each is needed by one feature, so that none of them missing is a problem. */
function optional(): Finding[] {
  return optionalPackages.map(({ name, brings }) => {
    const version = installedVersion(name);
    const check = `package ${name}`;
    if (version !== undefined) return { check, result: "ok", message: `${version}, ${brings}` };
    return { check, result: "note", message: `not installed; ${brings}` };
  });
}

/** The service, its key and its models. */
async function service(io: CommandIo, settings: Configuration): Promise<Finding[]> {
  const { service: kind = "contract", baseUrl, apiKey } = settings;
  if (baseUrl === undefined) {
    const message =
      "none is configured, so the local one answers by quoting, without a network. For answers in prose set " +
      "CITEWELL_BASE_URL, CITEWELL_API_KEY, CITEWELL_EMBEDDING_MODEL and CITEWELL_CHAT_MODEL; for a service that speaks " +
      "another API also CITEWELL_SERVICE";
    return [{ check: "service", result: "note", message }];
  }
  const models = await asFinding("service", async () => {
    const transport = configuredTransport(io, settings)!;
    try {
      return await transport.listModels({ signal: io.signal, deadlineMs: maxReplyMs });
    } finally {
      await transport.close();
    }
  });
  const reached = kind === "contract" ? baseUrl : `${kind} at ${baseUrl}`;
  if ("value" in models)
    return [{ check: "service", result: "ok", message: reached }, ...chosenModels(settings, models.value)];
  io.signal.throwIfAborted();
  const { error, finding } = models;
  // The service has no list of models, and any other request would cost money.
  if (error instanceof TransportError && error.code === "request") {
    const message = `${reached} does not list its models, so that it was not asked whether it answers`;
    return [{ check: "service", result: "note", message }, ...chosenModels(settings, undefined)];
  }
  if (!(error instanceof TransportError) || error.code === "network" || error.code === "timeout") return [finding];
  if (error.code === "unauthorized" || error.code === "forbidden") {
    const said = apiKey === undefined ? "no key is set: set CITEWELL_API_KEY" : finding.message;
    return [{ check: "key", result: "problem", message: said }];
  }
  // Many services of this shape have no list of models; that alone is nothing wrong.
  return [
    { check: "service", result: "note", message: `${reached} answers, and does not list its models (${error.code})` },
  ];
}

/** @param published is unknown for a service that does not list its models. */
function chosenModels(settings: Configuration, published: readonly { readonly id: string }[] | undefined): Finding[] {
  const { service: kind = "contract", embeddingModel, rerankModel, chatModel } = settings;
  const chosen = { "embedding model": embeddingModel, "rerank model": rerankModel, "chat model": chatModel };
  const needed: Readonly<Record<string, string>> = {
    "embedding model": "CITEWELL_EMBEDDING_MODEL",
    "chat model": "CITEWELL_CHAT_MODEL",
  };
  return Object.entries(chosen).flatMap(([check, id]): Finding[] => {
    if (check === "chat model" && serviceProfile(kind) && !serviceProfile(kind)?.paths.chat) {
      return [{ check, result: "note", message: `${kind} has none: index and search work over it, ask does not` }];
    }
    if (id === undefined) {
      if (check === "embedding model" && settings.modelFolder !== undefined) return [];
      const variable = needed[check];
      return variable === undefined ? [] : [{ check, result: "problem", message: `none is named: set ${variable}` }];
    }
    if (!published) return [];
    // Ollama lists a model with its tag, which is latest where none is named.
    if (published.some((model) => model.id === id || model.id === `${id}:latest`)) {
      return [{ check, result: "ok", message: id }];
    }
    const some = published.slice(0, 5).map((model) => model.id);
    const message = `${id} is not among the ${counted(published.length, "model")} of the service, such as ${some.join(", ")}`;
    return [{ check, result: "problem", message }];
  });
}

/** The vector space of the model that the settings name. */
async function spaceOf(io: CommandIo, settings: Configuration): Promise<string> {
  const model = embeddingModelOf(io, settings) ?? "citewell/local-lexical-m3";
  return typeof model === "string" ? model : (await modelIn(model.folder)).space;
}

async function store(io: CommandIo, settings: Configuration, space: string): Promise<Finding> {
  const opened = await asFinding("store", async () => {
    // A store that is opened with another space names its own.
    const found = await openStoreAt(storePath(io, settings), { space }, { create: false });
    try {
      const { documents, chunks } = await found.counts();
      return `${found.location} holds ${counted(documents, "document")} in ${counted(chunks, "chunk")}`;
    } finally {
      await found.close();
    }
  });
  if ("value" in opened) return { check: "store", result: "ok", message: opened.value };
  const isMissing = "code" in opened.error && opened.error.code === "missing";
  return isMissing ? { ...opened.finding, result: "note" } : opened.finding;
}

type Tried<T> = { readonly value: T } | { readonly error: Error; readonly finding: Finding };

async function asFinding<T>(check: string, work: () => T | Promise<T>): Promise<Tried<T>> {
  try {
    return { value: await work() };
  } catch (thrown) {
    const error = asError(thrown);
    return { error, finding: { check, result: "problem", message: error.message } };
  }
}
