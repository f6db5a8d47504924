import type { Usage } from "../types.js";

/** Tokens of both together; what is absent has none. */
export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage {
  return {
    inputTokens: (one?.inputTokens ?? 0) + (other?.inputTokens ?? 0),
    outputTokens: (one?.outputTokens ?? 0) + (other?.outputTokens ?? 0),
  };
}
