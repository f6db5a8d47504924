import type { Engines } from "./engines.js";

/** The engines that need no weights. The code of each is loaded when it is first asked. */
export function builtInEngines(): Engines {
  const embedding = once(async () => (await import("./embedding/lexical-embedding.js")).lexicalEmbedding());
  const rerank = once(async () => (await import("./rerank/lexical-rerank.js")).lexicalRerank());
  const chat = once(async () => (await import("./chat/chat-engine.js")).chatEngine());
  const vision = once(async () => (await import("./image/vision-engine.js")).visionEngine());
  return {
    embedding: { embed: async (texts, call) => (await embedding()).embed(texts, call) },
    rerank: { score: async (query, documents, call) => (await rerank()).score(query, documents, call) },
    chat: { draft: async (prompt, call) => (await chat()).draft(prompt, call) },
    vision: { draft: async (prompt, call) => (await vision()).draft(prompt, call) },
  };
}

function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Promise<Value> | undefined;
  return () => (loaded ??= load());
}
