import { expect, test } from "vitest";
import { served } from "../../support/served.js";

const pages = Array.from({ length: 20 }, (_, number) => ({
  uri: `keys:${number}`,
  text: `API keys number ${number} expire after ${number + 80} days. Ada renews them.`,
}));
const question = "When do API keys number 10 expire?";

test("with workers, searches that find no room to wait are refused with the time to come again, and others are answered", async () => {
  const { send, events } = await served(pages, {
    workers: 1,
    metrics: true,
    limits: { maxWaitingSearches: 1, requestsPerMinute: 1_000_000 },
  });
  const alone = (await events("/api/ask", { question })).at(-1);
  const replies: Response[] = [];
  for (let round = 0; round < 300 && !replies.some(({ status }) => status === 503); round++) {
    replies.push(...(await Promise.all(Array.from({ length: 20 }, () => send("POST", "/api/search", { question })))));
  }
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 503]));
  const refused = replies.find(({ status }) => status === 503)!;
  expect(refused.headers.get("retry-after")).toBe("2");
  expect(await refused.json()).toEqual({
    error: { code: "busy", message: "Too many questions wait already: try again in a moment" },
  });
  expect(await (await send("GET", "/metrics")).text()).toMatch(/^citewell_search_threads 1$/m);
  expect((await events("/api/ask", { question })).at(-1)).toEqual(alone);
});
