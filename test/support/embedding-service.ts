import { createHash } from "node:crypto";
import { defaultTokens } from "../../src/text/tokens/tokens.js";
import type { RecordedRequest, ScriptedReply } from "./scripted-upstream.js";

/** The texts in an embeddings request. */
export function textsOf({ body }: RecordedRequest): readonly string[] {
  return (body as { readonly input: readonly string[] }).input;
}

/** A vector that no other text has. */
export function vectorOf(text: string): number[] {
  return Array.from(createHash("sha256").update(text).digest().subarray(0, 8), (byte) => byte - 127.5);
}

/** Answers an embeddings request. Vectors depend on the text alone; tokens are counted as in the library. */
export function embeddingReply(request: RecordedRequest): ScriptedReply {
  const texts = textsOf(request);
  const data = texts.map((text, index) => ({ index, embedding: vectorOf(text) }));
  const tokens = texts.reduce((sum, text) => sum + defaultTokens.count(text), 0);
  return { json: { data, usage: { prompt_tokens: tokens, total_tokens: tokens } } };
}
