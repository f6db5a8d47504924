import { OptionsError, TransportError } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import type { EmbedCall, Embedder, Embeddings } from "../../core/ports.js";
import { remainingTime } from "./timed-calls.js";

/**
 * Embeds texts in one call within the run's time, reported as `requests` and `tokens`. A call with `countedTokens` is
 * paid for from the run's budget.
 *
 * @throws BudgetError before sending what the budget cannot pay for; TransportError (`reply`) for a wrong number of vectors;
 * OptionsError for vectors of another kind or length than the embedder says.
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  options: Pick<EmbedCall, "purpose" | "countedTokens" | "onFailedAttempt">,
  context: Pick<RunContext, "signal" | "deadlineAt" | "report" | "budget">,
): Promise<Embeddings> {
  const { signal, report, budget } = context;
  const call = () => {
    signal.throwIfAborted();
    report({ type: "progress", what: "requests", count: 1 });
    return embedder.embed(texts, { ...remainingTime(context), ...options, signal });
  };
  const isPaid = budget && options.countedTokens !== undefined;
  const reply = await (isPaid ? budget.spend(options.countedTokens, call) : call());
  checkShape(reply, embedder);
  if (reply.vectors.length !== texts.length) {
    throw new TransportError(
      "reply",
      `Sent ${texts.length} texts to ${embedder.space}, got ${reply.vectors.length} vectors`,
    );
  }
  // Where the service does not count, our own count stands for it: nothing would look free.
  const tokens = reply.tokens ?? options.countedTokens ?? 0;
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
  for (const vector of vectors) {
    if (!(vector instanceof Float32Array)) {
      return refuse("returned a vector that is not a Float32Array. Convert it with Float32Array.from()");
    }
    if (dimension !== undefined && vector.length !== dimension) {
      return refuse(
        `says that its dimension is ${dimension}, and returned a vector of ${vector.length}. Correct the one or the other`,
      );
    }
  }
}
