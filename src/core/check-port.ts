import { OptionsError } from "./errors.js";

/** Ports by what they are called in messages, each with a method that it must have, and what it looks like. */
const ports = {
  embedder: {
    method: "embed",
    is: "an embedder: { space, maxInputTokens, maxBatchTexts, tokens: { name, count }, embed }",
  },
  reranker: { method: "rerank", is: "a reranker: an object with rerank()" },
  knowledgeBase: { method: "ask", is: "a knowledge base, as openKnowledgeBase() returns it" },
  chatModel: { method: "stream", is: "a chat model: { model, tokens, stream, … }" },
} as const;

/**
 * Refuses what is often passed in the place of a port, such as a model's name: without types it would be found out when the
 * first document or question comes.
 *
 * @throws OptionsError that says what the port looks like.
 */
export function checkPort(call: string, port: keyof typeof ports, given: unknown): void {
  const { method, is } = ports[port];
  checkMethods(call, port, given, [method], is);
}

/** As `checkPort`, for the part of a store that a stage uses. */
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
    methods.every((method) => typeof (given as Readonly<Record<string, unknown>>)[method] === "function");
  if (isIt) return;
  const shown = typeof given === "string" ? JSON.stringify(given) : typeof given;
  throw new OptionsError("options", `${name}: must be ${is} (got ${shown})`, { call, option: name });
}
