import { types } from "node:util";
import { shown } from "../../core/check-port.js";
import { OptionsError, TransportError } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import type { Budget, EmbedCall, Embedder, Embeddings } from "../../core/ports.js";
import { remainingTime } from "./timed-calls.js";

/**
 * Embeds texts in one call within the run's time, reported as `requests` and `tokens`. A call with `countedTokens` is
 * paid for from `budget`.
 *
 * @throws BudgetError before sending texts that the budget cannot pay for; TransportError (`reply`) for a wrong number
 *   of vectors; OptionsError for vectors of another kind or length than the embedder says.
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  options: Pick<EmbedCall, "purpose" | "countedTokens" | "onFailedAttempt">,
  context: Pick<RunContext, "signal" | "deadlineAt" | "report">,
  budget?: Budget,
): Promise<Embeddings> {
  const { signal, report } = context;
  const { countedTokens } = options;
  const charge = countedTokens === undefined ? undefined : await budget?.reserve(countedTokens);
  let reply: Embeddings;
  try {
    signal.throwIfAborted();
    report({ type: "progress", what: "requests", count: 1 });
    reply = await embedder.embed(texts, { ...remainingTime(context), ...options, signal });
    checkShape(reply, embedder);
  } catch (error) {
    charge?.settle({ error });
    throw error;
  }
  charge?.settle(reply);
  if (reply.vectors.length !== texts.length) {
    throw new TransportError(
      "reply",
      `Sent ${texts.length} texts to ${embedder.space}, got ${reply.vectors.length} vectors`,
    );
  }
  // If the service does not count, our own count stands in: otherwise the call would look free.
  const tokens = reply.tokens ?? countedTokens ?? 0;
  if (tokens > 0) report({ type: "progress", what: "tokens", count: tokens });
  return reply;
}

/** Refuses what an embedder of the caller's may return where nothing checks its types. */
function checkShape(reply: unknown, { space, dimension }: Embedder): void {
  const refuse = (problem: string) => {
    throw new OptionsError("options", `The embedder ${space} ${problem}`, { call: "embed" });
  };
  const vectors = (reply as Partial<Embeddings> | null | undefined)?.vectors as readonly unknown[] | undefined;
  if (!Array.isArray(vectors)) return refuse("must return { vectors, tokens }, a list of Float32Array and a number");
  const { tokens } = reply as { readonly tokens?: unknown };
  if (tokens !== undefined && !(typeof tokens === "number" && tokens >= 0 && Number.isFinite(tokens))) {
    return refuse(
      `returned tokens ${shown(tokens)}, which is no number of 0 or more. Leave it out where nothing counts them`,
    );
  }
  for (const vector of vectors) {
    if (!types.isFloat32Array(vector)) {
      return refuse("returned a vector that is not a Float32Array. Convert it with Float32Array.from()");
    }
    if (dimension !== undefined && vector.length !== dimension) {
      return refuse(
        `says that its dimension is ${dimension}, and returned a vector of ${vector.length}. Correct the one or the other`,
      );
    }
  }
}
