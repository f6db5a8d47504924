import { describe, expect, test } from "vitest";
import { startLocalService, type LocalService, type LocalServiceOptions } from "../../../src/local/service.js";
import { RateLimits } from "../../../src/local/http/rate-limits.js";
import { paths, post } from "../conformance.js";

const model = "citewell/local-lexical";

async function withService(options: LocalServiceOptions, use: (service: LocalService) => Promise<void>): Promise<void> {
  const service = await startLocalService(options);
  try {
    await use(service);
  } finally {
    await service.close();
  }
}

describe("limits over HTTP", () => {
  test("requests beyond the limit per minute are refused until the minute is over", async () => {
    await withService({ rateLimits: { requestsPerMinute: 2 }, timeScale: 20 }, async (service) => {
      const send = () => post(service, paths.embeddings, { model, input: "a" });
      expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
      const refused = await send();
      expect(refused).toMatchObject({
        status: 429,
        body: { message: "Request was rejected due to rate limiting. Details: RPM limit reached.", data: null },
      });
      // A minute of the service lasts three seconds of the wall clock.
      const waitSeconds = Number(refused.headers.get("retry-after"));
      expect(waitSeconds).toBeGreaterThanOrEqual(1);
      expect(waitSeconds).toBeLessThanOrEqual(3);
      await new Promise((resolve) => setTimeout(resolve, 1000 * waitSeconds));
      expect((await send()).status).toBe(200);
    });
  });

  test("each key and model is counted separately", async () => {
    await withService({ rateLimits: { requestsPerMinute: 1 }, apiKey: "a", moreApiKeys: ["b"] }, async (service) => {
      const send = async (apiKey: string, to: string) =>
        (await post({ url: service.url, apiKey }, paths.embeddings, { model: to, input: "a" })).status;
      expect(await send("a", model)).toBe(200);
      expect(await send("b", model)).toBe(200);
      expect(await send("a", "citewell/local-lexical-m3")).toBe(200);
      expect(await send("a", model)).toBe(429);
    });
  });

  test("an invalid request is not counted", async () => {
    await withService({ rateLimits: { requestsPerMinute: 1 } }, async (service) => {
      expect((await post(service, paths.embeddings, { model, input: "" })).status).toBe(400);
      expect((await post(service, paths.embeddings, { model, input: "a" })).status).toBe(200);
    });
  });

  test("tokens of all requests are summed, and headers report the remainder", async () => {
    await withService({ rateLimits: { tokensPerMinute: 10, headers: true, retryAfter: false } }, async (service) => {
      const send = (tokens: number) => post(service, paths.embeddings, { model, input: " a".repeat(tokens) });
      const first = await send(6);
      expect(first.headers.get("x-ratelimit-limit-tokens")).toBe("10");
      expect(first.headers.get("x-ratelimit-remaining-tokens")).toBe("4");
      expect(first.headers.get("x-ratelimit-reset-tokens")).toMatch(/^\d+ms$/);
      const refused = await send(5);
      expect(refused).toMatchObject({ status: 429, body: { message: expect.stringContaining("TPM") } });
      expect(refused.headers.get("retry-after")).toBeNull();
      expect((await send(4)).status).toBe(200);
    });
  });

  test("a caller who waits for each reply has a place for the next request, however large the replies are", async () => {
    await withService({ rateLimits: { concurrency: 1 } }, async (service) => {
      const words = Array.from({ length: 300 }, (_, index) => `word${index}`).join(" ");
      const input = Array.from({ length: 32 }, () => words);
      for (let round = 0; round < 10; round++) {
        const { status, text } = await post(service, paths.embeddings, { model: "citewell/local-lexical-m3", input });
        expect(status).toBe(200);
        expect(text.length).toBeGreaterThan(300_000);
      }
    });
  });

  test("a stream counts as active until it ends or its reader disconnects", async () => {
    await withService({ rateLimits: { concurrency: 1 }, eventDelayMs: 30 }, async (service) => {
      const messages = [
        { role: "user", content: "Context: Keys expire after 90 days.\n\nQuestion: When do keys expire?" },
      ];
      const open = (signal?: AbortSignal) =>
        fetch(service.url + paths.chat, {
          method: "POST",
          headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "citewell/local-extractive", messages }),
          ...(signal && { signal }),
        });
      const leaving = new AbortController();
      const left = await open(leaving.signal);
      expect((await open()).status).toBe(429);
      leaving.abort();
      await expect(left.text()).rejects.toThrow("aborted");
      let whole = await open();
      for (let attempt = 0; attempt < 50 && whole.status === 429; attempt++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        whole = await open();
      }
      expect(await whole.text()).toContain("[DONE]");
      expect((await open()).status).toBe(200);
    });
  });
});

describe("RateLimits", () => {
  const clockAt = (time: { seconds: number }) => ({ nowSeconds: () => time.seconds, wallMs: (s: number) => s * 1000 });

  test("a single request with more tokens than the limit per minute is admitted when alone", () => {
    const limits = new RateLimits({ tokensPerMinute: 10, retryAfter: true, headers: false }, clockAt({ seconds: 0 }));
    expect(() => limits.admit("key", "model", 50)).not.toThrow();
    expect(() => limits.admit("key", "model", 1)).toThrow("TPM");
  });

  test("retry-after leads exactly to the end of the minute", () => {
    const time = { seconds: 1000 };
    const limits = new RateLimits({ requestsPerMinute: 1, retryAfter: true, headers: false }, clockAt(time));
    limits.admit("key", "model", 1);
    time.seconds = 1017.5;
    const refused = (): unknown => {
      try {
        return limits.admit("key", "model", 1);
      } catch (error) {
        return (error as { readonly headers: unknown }).headers;
      }
    };
    expect(refused()).toEqual({ "retry-after": "43" });
    time.seconds = 1059.9;
    expect(refused()).toEqual({ "retry-after": "1" });
    time.seconds = 1060;
    expect(() => limits.admit("key", "model", 1)).not.toThrow();
  });

  test("a stream that outlasts its minute still takes its place", () => {
    const time = { seconds: 0 };
    const limits = new RateLimits({ concurrency: 1, retryAfter: true, headers: false }, clockAt(time));
    const { release } = limits.admit("key", "model", 1);
    time.seconds = 61;
    expect(() => limits.admit("key", "model", 1)).toThrow("concurrency");
    release();
    expect(() => limits.admit("key", "model", 1)).not.toThrow();
  });
});
