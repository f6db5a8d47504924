import { TransportError } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import type { EmbedCall, Embedder, Embeddings } from "../../core/ports.js";
import { remainingTime } from "./timed-calls.js";

/**
 * Embeds texts in one call within the run's time, reported as `requests` and `tokens`. A call with `countedTokens` is
 * paid for from the run's budget.
 *
 * @throws BudgetError before sending what the budget cannot pay for; TransportError (`reply`) for a wrong number of vectors.
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
  if (reply.vectors.length !== texts.length) {
    throw new TransportError(
      "reply",
      `Sent ${texts.length} texts to ${embedder.space}, got ${reply.vectors.length} vectors`,
    );
  }
  if (reply.tokens > 0) report({ type: "progress", what: "tokens", count: reply.tokens });
  return reply;
}
