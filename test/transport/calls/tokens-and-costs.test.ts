import { describe, expect, test } from "vitest";
import { type Usage, costOf, withoutNoise } from "../../../src/core/types.js";
import { addUsage } from "../../../src/stages/calls/model-request.js";
import { transportFor } from "../../support/transport-for.js";

const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };
const answered = (usage: object) => ({
  json: { choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }], usage },
});

describe("cached and thinking tokens are counted, wherever a service writes them", () => {
  const counts = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
  test.each<[string, object, Partial<Usage>]>([
    ["OpenAI", { ...counts, prompt_tokens_details: { cached_tokens: 800 } }, { cachedTokens: 800 }],
    ["DeepSeek", { ...counts, prompt_cache_hit_tokens: 800, prompt_cache_miss_tokens: 200 }, { cachedTokens: 800 }],
    ["Together", { ...counts, cached_tokens: 800 }, { cachedTokens: 800 }],
    [
      "OpenAI, thinking within the reply",
      { ...counts, completion_tokens_details: { reasoning_tokens: 40 } },
      { outputTokens: 50, reasoningTokens: 40 },
    ],
    [
      "xAI, thinking beside the reply",
      { ...counts, total_tokens: 1250, completion_tokens_details: { reasoning_tokens: 200 } },
      { outputTokens: 250, reasoningTokens: 200 },
    ],
    [
      "Gemini, thinking in the total alone",
      { ...counts, total_tokens: 1300 },
      { outputTokens: 300, reasoningTokens: 250 },
    ],
  ])("%s", async (_, usage, expected) => {
    const { transport } = await transportFor([answered(usage)]);
    expect((await transport.chat(ask)).usage).toMatchObject({ inputTokens: 1000, outputTokens: 50, ...expected });
  });

  test("and a total that says something else is left alone", async () => {
    const usage = { ...counts, total_tokens: 1100, completion_tokens_details: { reasoning_tokens: 20 } };
    const { transport } = await transportFor([answered(usage)]);
    expect((await transport.chat(ask)).usage).toMatchObject({ outputTokens: 50, reasoningTokens: 20 });
  });

  test("the totals have them, and price them", async () => {
    const usage = { ...counts, prompt_tokens_details: { cached_tokens: 800 } };
    const { transport } = await transportFor([answered(usage), answered(usage)], {
      prices: { m: { input: 2, cachedInput: 0.5, output: 8 } },
    });
    await transport.chat(ask);
    await transport.chat(ask);
    expect(transport.totals()["m"]).toMatchObject({ inputTokens: 2000, cachedTokens: 1600, cost: 0.0024 });
  });

  test("they add up over requests, and stay away where no service wrote them", () => {
    const one = { inputTokens: 10, outputTokens: 5 };
    expect(addUsage(one, one)).toEqual({ inputTokens: 20, outputTokens: 10 });
    expect(addUsage({ ...one, cachedTokens: 4 }, { ...one, reasoningTokens: 3 })).toEqual({
      inputTokens: 20,
      outputTokens: 10,
      cachedTokens: 4,
      reasoningTokens: 3,
    });
  });
});

describe("a cost is written without the noise of binary fractions", () => {
  test.each<[number, number, number]>([
    [0.02, 194_543, 0.00389086],
    [0.13, 3, 3.9e-7],
    [0.1, 7, 7e-7],
    [3, 1_234_567_891, 3703.703673],
  ])("%d a million for %d tokens is %d", (input, inputTokens, cost) => {
    expect(costOf({ inputTokens, outputTokens: 0 }, { input })).toBe(cost);
  });

  test("for any price of up to four decimals, as long division has it", () => {
    for (let tokens = 1; tokens < 200_000; tokens += 1013) {
      for (const price of [1, 13, 200, 1499, 30_000, 99_999]) {
        const digits = (BigInt(tokens) * BigInt(price)).toString().padStart(11, "0");
        const exact = Number(`${digits.slice(0, -10)}.${digits.slice(-10)}`);
        expect(costOf({ inputTokens: tokens, outputTokens: 0 }, { input: price / 10_000 })).toBe(exact);
      }
    }
  });

  test("and sums of costs are", () => {
    expect(withoutNoise(0.1 + 0.2)).toBe(0.3);
    expect(withoutNoise(0)).toBe(0);
  });
});
