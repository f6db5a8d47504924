import fc from "fast-check";
import { expect, test } from "vitest";
import { BudgetError, TransportError } from "../../../src/core/errors.js";
import { TokenBudget } from "../../../src/stages/indexing/token-budget.js";

/** Makes a call that the budget pays for. */
async function spend<Reply extends { readonly tokens?: number }>(
  budget: TokenBudget,
  tokens: number,
  call: () => Promise<Reply>,
): Promise<Reply> {
  const charge = await budget.reserve(tokens);
  const reply = await call().catch((error: unknown) => {
    charge.settle({ error });
    throw error;
  });
  charge.settle(reply);
  return reply;
}

test("the budget is never exceeded, whatever the calls and however the service counts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 500 }),
      fc.array(fc.record({ tokens: fc.integer({ min: 1, max: 100 }), turns: fc.integer({ min: 0, max: 4 }) })),
      fc.constantFrom(0.5, 1, 1.25, 2),
      async (maxTokens, calls, ratio) => {
        const budget = new TokenBudget(maxTokens);
        const spent: number[] = [];
        const outcomes = await Promise.allSettled(
          calls.map(({ tokens, turns }) =>
            spend(budget, tokens, async () => {
              for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
              spent.push(tokens * ratio);
              return { tokens: tokens * ratio };
            }),
          ),
        );
        // Only of the first call is the service's count not known beforehand.
        const [first = 0, ...rest] = spent;
        expect(rest.reduce((sum, tokens) => sum + tokens, first)).toBeLessThanOrEqual(Math.max(maxTokens, first));
        for (const outcome of outcomes) {
          if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(BudgetError);
        }
        expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(spent.length);
      },
    ),
  );
});

test("the first call goes alone, the others together", async () => {
  const budget = new TokenBudget(1000);
  const started: string[] = [];
  let answer = (_reply: { tokens: number }) => {};
  const first = spend(budget, 10, () => {
    started.push("first");
    return new Promise<{ tokens: number }>((resolve) => (answer = resolve));
  });
  const others = ["second", "third"].map((name) =>
    spend(budget, 10, async () => {
      started.push(name);
      return { tokens: 20 };
    }),
  );
  await new Promise(setImmediate);
  expect(started).toEqual(["first"]);
  answer({ tokens: 20 });
  await Promise.all([first, ...others]);
  expect(started).toEqual(["first", "second", "third"]);
});

test("a failed call costs nothing, and the next one goes alone again", async () => {
  const budget = new TokenBudget(10);
  const failing = spend(budget, 10, () => Promise.reject(new Error("refused")));
  const next = spend(budget, 10, async () => ({ tokens: 10 }));
  await expect(failing).rejects.toThrow("refused");
  expect(await next).toEqual({ tokens: 10 });
  await expect(spend(budget, 1, async () => ({ tokens: 1 }))).rejects.toThrow(
    "The budget is 10 tokens: 10 are spent, and the next request of about 1 would exceed it",
  );
});

test("a call whose reply was unreadable is charged, since the service has counted it", async () => {
  for (const code of ["reply", "truncated"] as const) {
    const budget = new TokenBudget(100);
    const sent: number[] = [];
    const call = async () => {
      sent.push(30);
      throw new TransportError(code, "nonsense");
    };
    for (let times = 0; times < 3; times++) await expect(spend(budget, 30, call)).rejects.toThrow("nonsense");
    await expect(spend(budget, 30, call)).rejects.toThrow("90 are spent");
    expect(sent).toHaveLength(3);
    expect(await spend(budget, 10, async () => ({ tokens: 10 }))).toEqual({ tokens: 10 });
  }
});

test("a service that reports no usage is charged by our count, and the budget still ends", async () => {
  const budget = new TokenBudget(100);
  let sent = 0;
  const spendThirty = () =>
    spend(budget, 30, async () => {
      sent++;
      return { tokens: 0 };
    });
  await spendThirty();
  await Promise.all([spendThirty(), spendThirty()]);
  await expect(spendThirty()).rejects.toThrow(
    "The budget is 100 tokens: 90 are spent, and the next request of about 30",
  );
  expect(sent).toBe(3);
});
