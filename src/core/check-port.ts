import { OptionsError } from "./errors.js";
import { isRecord } from "./json.js";
import { withoutCredentials } from "./options.js";

/** Says what a field must be; undefined if the value fits. */
type Check = (value: unknown) => string | undefined;

const needs =
  (is: (value: unknown) => boolean, what: string): Check =>
  (value) =>
    is(value) ? undefined : what;

const text = needs((value) => typeof value === "string" && value !== "", "must be a text");
const method = needs((value) => typeof value === "function", "must be a function");
const limit = needs((value) => typeof value === "number" && value >= 1, "must be a number of 1 or more");
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);
const retriever = needs(
  (value) => isRecord(value) && typeof value["retrieve"] === "function",
  "must be a retriever: { name, retrieve }",
);

/** Counters that were checked to return numbers: most stages of a program share one. */
const triedCounters = new WeakSet<object>();

const counter: Check = (value) => {
  if (!isRecord(value) || typeof value["count"] !== "function") return "must be a token counter: { name, count }";
  if (triedCounters.has(value)) return undefined;
  const counted: unknown = (value as { count: (text: string) => unknown }).count("word");
  if (!isCount(counted)) return `must count: count("word") returned ${shown(counted)}, not a number of 0 or more`;
  triedCounters.add(value);
  return undefined;
};

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** Ports by their names in messages, each with what it looks like, the method that tells it from other objects, and its fields. */
const ports = {
  embedder: {
    is: "an embedder: { space, maxInputTokens, maxBatchTexts, tokens: { name, count }, embed }",
    fields: {
      embed: method,
      space: text,
      dimension: optional(limit),
      maxInputTokens: limit,
      maxBatchTexts: limit,
      tokens: counter,
    },
  },
  reranker: { is: "a reranker: an object with rerank()", fields: { rerank: method, model: text } },
  knowledgeBase: { is: "a knowledge base, as openKnowledgeBase() returns it", fields: { ask: method } },
  chatModel: {
    is: "a chat model: { model, tokens, stream, … }",
    fields: {
      stream: method,
      model: text,
      contextTokens: limit,
      maxOutputTokens: limit,
      maxMessages: limit,
      tokens: counter,
    },
  },
  retriever: { is: "a retriever: { name, retrieve }", fields: { retrieve: method, name: text } },
  keys: { is: "keys, as keyFile() returns them", fields: { list: method, change: method } },
  store: {
    is: "a store, as openStore() returns it",
    fields: {
      write: method,
      space: text,
      dense: retriever,
      lexical: retriever,
      ...Object.fromEntries(
        [
          "document",
          "documentInfo",
          "documents",
          "hits",
          "scoped",
          "deleteDocuments",
          "knownVectors",
          "counts",
          "verify",
          "close",
        ].map((name) => [name, method]),
      ),
    },
  },
} satisfies Readonly<Record<string, { readonly is: string; readonly fields: Readonly<Record<string, Check>> }>>;

/**
 * Refuses values often passed in place of a port, such as a model's name, and ports that lack a field. Without types,
 * such a mistake would surface only at the first document or question.
 *
 * @param option the parameter or field that it was given as. Default: the port's name.
 * @throws OptionsError that says what the port looks like, or what is wrong with which field.
 */
export function checkPort(call: string, port: keyof typeof ports, given: unknown, option: string = port): void {
  const { is, fields } = ports[port];
  const checks: [string, Check][] = Object.entries(fields);
  const [[first]] = checks as [[string, Check]];
  checkMethods(call, option, given, [first], is);
  for (const [field, check] of checks) {
    const value = (given as Readonly<Record<string, unknown>>)[field];
    const problem = check(value);
    if (problem === undefined) continue;
    throw new OptionsError("options", `${option}.${field} ${problem} (got ${shown(value)})`, { call, option });
  }
}

/** Like `checkPort`, for the part of an embedder that opens a store: the space of its vectors. */
export function checkVectorSpace(call: string, given: unknown): void {
  if (
    isRecord(given) &&
    text(given["space"]) === undefined &&
    ports.embedder.fields.dimension(given["dimension"]) === undefined
  )
    return;
  const message =
    "embedder: must be the embedder whose vectors the store holds, or its { space, dimension } " +
    `(got ${isRecord(given) ? `space ${shown(given["space"])}, dimension ${shown(given["dimension"])}` : shown(given)})`;
  throw new OptionsError("options", message, { call, option: "embedder" });
}

/** Like `checkPort`, for a token counter. */
export function checkTokens(call: string, option: string, given: unknown): void {
  const problem = counter(given);
  if (problem !== undefined) throw new OptionsError("options", `${option} ${problem}`, { call, option });
}

/** Like `checkPort`, for the part of a store that a stage uses. */
export function checkStorePart(call: string, given: unknown, methods: readonly string[]): void {
  checkMethods(
    call,
    "store",
    given,
    methods,
    `a store, as openStore() returns it, or have ${methods.join("() and ")}()`,
  );
}

function checkMethods(call: string, name: string, given: unknown, methods: readonly string[], is: string): void {
  const isIt =
    typeof given === "object" &&
    given !== null &&
    methods.every((methodName) => typeof (given as Readonly<Record<string, unknown>>)[methodName] === "function");
  if (isIt) return;
  throw new OptionsError("options", `${name}: must be ${is} (got ${kindOf(given)})`, { call, option: name });
}

function kindOf(value: unknown): string {
  return typeof value === "string" ? withoutCredentials(JSON.stringify(value)) : typeof value;
}

/** A value in the message about what a port returned: a text as it is written in code, others by their kind. */
export function shown(value: unknown): string {
  if (typeof value === "string") {
    return withoutCredentials(JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value));
  }
  if (typeof value === "number" || typeof value === "boolean" || value === null || value === undefined) {
    return String(value);
  }
  if (value instanceof Promise) return "a promise";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
