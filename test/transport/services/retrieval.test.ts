import { expect, test } from "vitest";
import { failure, transportFor, vectors } from "../../support/transport-for.js";
import { connected, having, keyHeadersOf } from "./connected-services.js";

test.each(having("embeddings"))(
  "%s embeds documents and questions as its documentation says",
  async (_, row, exchange) => {
    const { path, body, reply, tokens } = exchange;
    const { transport, upstream } = await connected(row, [reply, reply]);
    const input = ["Keys expire.", "Locks rust."];
    const result = await transport.embeddings({ model: "e", input });
    expect(result.vectors.map((vector) => [...vector])).toEqual([
      [1, 0],
      [0, 1],
    ]);
    expect(result.usage?.inputTokens).toBe(tokens);
    await transport.embeddings({ model: "e", input }, { purpose: "query" });
    expect(upstream.requests[0]).toMatchObject({ method: "POST", path, headers: keyHeadersOf(row) });
    expect(upstream.requests.map((request) => request.body)).toEqual([body, { ...body, ...row.query }]);
    if (row.keyHeaders) expect(upstream.requests[0]!.headers).not.toHaveProperty("authorization");
  },
);

test.each(having("rerank"))(
  "%s reranks as its documentation says, and has the documents from the request",
  async (_, row, exchange) => {
    const { path, body, reply, tokens } = exchange;
    const { transport, upstream, warnings } = await connected(row, [reply, reply]);
    const request = { model: "r", query: "q", documents: ["a", "b"], top_n: 1 };
    const result = await transport.rerank(request);
    expect(result.results).toEqual([{ index: 1, score: 0.9 }]);
    expect(result.usage?.inputTokens).toBe(tokens);
    const { results } = await transport.rerank({ ...request, return_documents: true });
    expect(results).toEqual([{ index: 1, score: 0.9, document: "b" }]);
    expect(upstream.requests[0]).toMatchObject({ path, headers: keyHeadersOf(row) });
    for (const sent of upstream.requests) expect(sent.body).toEqual(body);
    // A service without counts is warned of once, and its calls have no cost.
    expect(warnings()).toEqual(tokens === undefined ? [expect.stringContaining("no token counts")] : []);
    expect(transport.totals()["r"]).toMatchObject({ uncounted: tokens === undefined ? 2 : 0 });
  },
);

test("tasks go to those models of Jina that have them", async () => {
  const { transport, upstream } = await transportFor([vectors(1), vectors(1), vectors(1)], { service: "jina" });
  const asked = { purpose: "query" as const };
  await transport.embeddings({ model: "jina-embeddings-v3", input: ["a"] }, asked);
  await transport.embeddings({ model: "jina-embeddings-v4", input: ["a"] });
  await transport.embeddings({ model: "jina-embeddings-v2-base-en", input: ["a"] }, asked);
  expect(upstream.requests.map(({ body }) => (body as { readonly task?: string }).task)).toEqual([
    "retrieval.query",
    "retrieval.passage",
    undefined,
  ]);
});

test("more documents than text-embeddings-inference takes at once go in parts", async () => {
  const { transport, upstream } = await transportFor(
    ({ body }) => ({
      json: (body as { readonly texts: readonly string[] }).texts.map((text, index) => ({
        index,
        score: Number(text),
      })),
    }),
    { service: "tei" },
  );
  const documents = Array.from({ length: 70 }, (_, at) => String(at / 100));
  const { results } = await transport.rerank({ model: "r", query: "q", documents, top_n: 2 });
  expect(results.map(({ index }) => index)).toEqual([69, 68]);
  expect(upstream.requests).toHaveLength(3);
});

test("vectors of another length are asked for in the service's own field, or not at all", async () => {
  const lengths = { mistral: "output_dimension", voyage: "output_dimension", openai: "dimensions" } as const;
  for (const service of Object.keys(lengths) as (keyof typeof lengths)[]) {
    const { transport, upstream } = await transportFor([vectors(1)], { service });
    await transport.embeddings({ model: "e", input: ["a"], dimensions: 2 });
    expect(upstream.requests[0]!.body).toMatchObject({ [lengths[service]]: 2 });
  }
  const { transport } = await transportFor([], { service: "tei" });
  expect(String(await failure(transport.embeddings({ model: "e", input: ["a"], dimensions: 2 })))).toContain(
    'tei has no field "dimensions"',
  );
});

test("a token budget keeps its own estimate of calls that come without a count", async () => {
  const { transport } = await transportFor(() => ({ json: [{ index: 0, score: 1 }] }), {
    service: "tei",
    tokensPerMinute: 100,
  });
  // About 90 tokens of the budget of 100: with the estimate taken back, the second call would not have to wait.
  const request = { model: "r", query: "q", documents: ["x".repeat(270)] };
  expect((await transport.rerank(request)).usage).toBeUndefined();
  expect(await failure(transport.rerank(request, { deadlineMs: 50 }))).toMatchObject({
    code: "rate-limited",
    attempts: 0,
  });
});
