import { describe, expect, test } from "vitest";
import { failure, transportFor } from "../../support/transport-for.js";

const ask = { model: "m", messages: [{ role: "user" as const, content: "?" }] };

describe("the status of a refusal is known, whatever becomes of its body", () => {
  test.each([400, 401, 422])("%d whose body never ends is told at once, with what came", async (status) => {
    const { transport, upstream } = await transportFor(
      () => ({ status, chunks: ['{"message":"no such field'], hang: true, headers: { "content-type": "text/plain" } }),
      { readTimeoutMs: 20_000 },
    );
    const startedAt = performance.now();
    const error = await failure(transport.chat(ask));
    expect(error).toMatchObject({ status, attempts: 1 });
    expect(error).not.toMatchObject({ code: "timeout" });
    expect(String(error)).toContain("no such field");
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(upstream.requests).toHaveLength(1);
  });

  test("also where the time of an attempt or of the call is over first", async () => {
    const endless = { status: 400, chunks: ["no such field"], hang: true };
    for (const [options, call] of [
      [{ readTimeoutMs: 1500 }, {}],
      [{}, { deadlineMs: 1500 }],
    ] as const) {
      const { transport, upstream } = await transportFor(() => endless, options);
      const error = await failure(transport.chat(ask, call));
      expect(error).toMatchObject({ code: "refused", status: 400, attempts: 1 });
      expect(upstream.requests).toHaveLength(1);
    }
  });

  test("also where the connection breaks in the middle of it", async () => {
    const { transport, upstream } = await transportFor(() => ({ status: 403, chunks: ["no"], destroy: true }));
    expect(await failure(transport.chat(ask))).toMatchObject({ code: "forbidden", status: 403, attempts: 1 });
    expect(upstream.requests).toHaveLength(1);
  });

  test("but an abort is thrown as it is", async () => {
    const { transport } = await transportFor(() => ({ status: 400, chunks: ["no"], hang: true }));
    const controller = new AbortController();
    const call = failure(transport.chat(ask, { signal: controller.signal }));
    setTimeout(() => controller.abort("enough"), 100);
    expect(await call).toBe("enough");
  });
});

test("control characters of an error's body do not reach the terminal that shows it", async () => {
  const message = "\u001b[31mbad\u001b[0m \u001b]8;;http://evil\u0007key\u001b]8;;\u0007\u0008\u0000\u202e\r\nhere";
  for (const reply of [{ json: { error: { message } } }, { json: message }, { text: message }]) {
    const { transport } = await transportFor([{ status: 400, ...reply }]);
    const { message: told } = (await failure(transport.chat(ask))) as Error;
    expect(told).toContain("bad key here");
    expect(told).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
});
