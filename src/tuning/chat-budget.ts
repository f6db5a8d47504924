import { z } from "zod";
import { OptionsError } from "../core/errors.js";
import { optionsOf, resolve } from "../core/options.js";
import type { ChatModel, ChatRequest } from "../core/ports.js";
import { costOf, type Price, type Usage } from "../core/types.js";

export interface ChatBudgetOptions {
  /** Maximum tokens of all requests and replies together, 1 or more, those of runs that this one continues included. Default: no limit. */
  readonly maxTokens?: number;
  /** Maximum cost of the same, above 0, in the currency of the chat model's `price`, which it needs. Default: no limit. */
  readonly maxCost?: number;
  /** Maximum time of this run, in minutes, above 0. Default: no limit. */
  readonly maxMinutes?: number;
}

/** @internal */
export const chatBudgetShape = {
  maxTokens: z.int().min(1).optional(),
  maxCost: z.number().positive().optional(),
  maxMinutes: z.number().positive().optional(),
};
const chatBudgetOptions = optionsOf<ChatBudgetOptions>()(chatBudgetShape);

/** Tokens of a message beside its words: its role, and what a service puts around it. */
const messageTokens = 8;

/** Services count differently from us: requests are taken to have half as many tokens again until replies tell. */
const firstMargin = 1.5;

/** The next request might pass the budget: its callers end with what they have, and say so. */
export class BudgetReached extends Error {}

/** Admits a request only where the budget bears the most that it may cost. */
export class ChatBudget {
  readonly #limits: ChatBudgetOptions;
  readonly #price: Price | undefined;
  readonly #startedAt = performance.now();
  #margin = firstMargin;
  #tokens = 0;
  #cost = 0;

  /** @throws OptionsError for `maxCost` without a price. */
  constructor(owner: string, limits: ChatBudgetOptions, price: Price | undefined) {
    this.#limits = resolve(owner, chatBudgetOptions, limits);
    this.#price = price;
    if (limits.maxCost === undefined || price) return;
    throw new OptionsError("options", "maxCost needs the price of the chat model's tokens: give the model a price", {
      call: owner,
      option: "maxCost",
    });
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Cost so far; `undefined` without a price. */
  get cost(): number | undefined {
    return this.#price && this.#cost;
  }

  /** @throws BudgetReached when a request of so many tokens, or the time, would exceed a limit. */
  admit(inputTokens: number, outputTokens: number): void {
    const { maxTokens = Infinity, maxCost = Infinity } = this.#limits;
    this.checkTime();
    const input = Math.ceil(inputTokens * this.#margin);
    if (this.#tokens + input + outputTokens > maxTokens) {
      throw new BudgetReached(
        `maxTokens is ${maxTokens}, and ${this.#tokens} were used: the next request may take more`,
      );
    }
    const next = costOf({ inputTokens: input, outputTokens }, this.#price) ?? 0;
    if (this.#cost + next > maxCost) {
      throw new BudgetReached(`maxCost is ${maxCost}, and ${this.#cost} was spent: the next request may cost more`);
    }
  }

  /** @throws BudgetReached when the time is over. */
  checkTime(): void {
    const { maxMinutes = Infinity } = this.#limits;
    if (performance.now() - this.#startedAt < maxMinutes * 60_000) return;
    throw new BudgetReached(`maxMinutes is ${maxMinutes}, and so many are over`);
  }

  /** Counts a reply. @param estimated tokens that were counted for its request. */
  settle(usage: Usage, estimated?: number): void {
    this.#tokens += usage.totalTokens ?? usage.inputTokens + usage.outputTokens;
    this.#cost += costOf(usage, this.#price) ?? 0;
    if (estimated !== undefined) this.#margin = Math.max(this.#margin, (1.1 * usage.inputTokens) / estimated);
  }
}

/** Our count of a request's tokens. */
export function requestTokens({ messages }: ChatRequest, { tokens }: Pick<ChatModel, "tokens">): number {
  return messages.reduce((sum, { content }) => sum + tokens.count(content) + messageTokens, 0);
}
