import type { Usage } from "./types.js";

/** Price of a million tokens, in the caller's currency. */
export interface Price {
  readonly input: number;
  /** Default: 0, what models without a written reply cost. */
  readonly output?: number | undefined;
}

const million = 1e6;

/** What tokens cost; `undefined` without a price. */
export function costOf({ inputTokens, outputTokens }: Usage, price: Price | undefined): number | undefined {
  return price && (inputTokens * price.input + outputTokens * (price.output ?? 0)) / million;
}
