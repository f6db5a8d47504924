import { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import { withoutNoise } from "../../core/types.js";

const tokensPerPrice = 1_000_000;

export interface SpendingOptions {
  /** Price of a million tokens, in your currency, above 0. Default: unknown. */
  readonly price?: number;
  /** Maximum tokens that the service may count in one run, 1 or more. Default: no limit. */
  readonly maxTokens?: number;
  /** Maximum cost of one run, above 0, in the currency of `price`, which it needs. Default: no limit. */
  readonly maxCost?: number;
}

export const spendingOptions = optionsOf<SpendingOptions>()({
  price: z.number().positive().optional(),
  maxTokens: z.int().min(1).optional(),
  maxCost: z.number().positive().optional(),
});

export interface Spending {
  /** The stricter of both limits, in tokens. */
  readonly maxTokens: number | undefined;
  /** `{ cost }` where the price is known. */
  readonly costOf: (tokens: number) => { readonly cost?: number };
}

/** @throws OptionsError for a cost without a price, or one that does not buy a single token. */
export function spending(owner: string, options: SpendingOptions): Spending {
  const { price, maxTokens, maxCost } = resolve(owner, spendingOptions, options);
  if (maxCost !== undefined && price === undefined) {
    throw new OptionsError("options", "maxCost needs the price of a million tokens: set price as well", {
      call: owner,
      option: "maxCost",
    });
  }
  const affordable = maxCost === undefined ? Infinity : Math.floor((maxCost / price!) * tokensPerPrice);
  if (affordable < 1) {
    throw new OptionsError("options", `maxCost ${maxCost} buys no token at ${price} a million`, {
      call: owner,
      option: "maxCost",
    });
  }
  const most = Math.min(maxTokens ?? Infinity, affordable);
  return {
    maxTokens: most === Infinity ? undefined : most,
    costOf: (tokens) => (price === undefined ? {} : { cost: withoutNoise((tokens * price) / tokensPerPrice) }),
  };
}
