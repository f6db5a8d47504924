// In test:all alone: it waits for retries and deadlines under every kind of span, for 22 s.
import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { runWithPackages } from "../../support/bare-install.js";
import { root } from "../../support/citewell.js";
import { runNode } from "../../support/run-process.js";
import { scriptedUpstream } from "../../support/scripted-upstream.js";
import { chunk, failure, streamed, transportFor, vectors } from "../../support/transport-for.js";

const one = { model: "m", input: ["a secret text"] };
const ask = { model: "m", messages: [{ role: "user" as const, content: "a secret text" }] };
const usage = { prompt_tokens: 3, completion_tokens: 5 };

let spans: InMemorySpanExporter;
let measured: InMemoryMetricExporter;
let meters: MeterProvider;

beforeEach(() => {
  spans = new InMemorySpanExporter();
  measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: measured })] });
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  metrics.setGlobalMeterProvider(meters);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
});

afterEach(async () => {
  await meters.shutdown();
  trace.disable();
  metrics.disable();
  context.disable();
});

async function points(name: string) {
  await meters.forceFlush();
  const all = measured
    .getMetrics()
    .at(-1)!
    .scopeMetrics.flatMap((scope) => scope.metrics);
  return all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
}

describe("spans", () => {
  test("carry the names of the conventions, and no text", async () => {
    const { transport, upstream } = await transportFor([
      { sse: [{ ...chunk({ content: "b" }, { finish_reason: "stop" }), usage }, "[DONE]"] },
    ]);
    await collect(transport.chatStream({ ...ask, max_tokens: 9, temperature: 0.5 }));
    const [span] = spans.getFinishedSpans();
    expect(span).toMatchObject({ name: "chat m", kind: 2 });
    expect(span!.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "citewell",
      "gen_ai.request.model": "m",
      "gen_ai.request.max_tokens": 9,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.response.model": "test/chat",
      "gen_ai.usage.input_tokens": 3,
      "gen_ai.usage.output_tokens": 5,
      "http.response.status_code": 200,
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(upstream.baseUrl).port),
    });
  });

  test("stand under the caller's own", async () => {
    const { transport } = await transportFor([vectors(1)]);
    const parent = trace.getTracer("caller").startSpan("parent");
    await context.with(trace.setSpan(context.active(), parent), () => transport.embeddings(one));
    expect(spans.getFinishedSpans()[0]!.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
  });

  test("report retries", async () => {
    const { transport } = await transportFor([{ status: 503 }, vectors(1)], { providerName: "acme" });
    await transport.embeddings(one);
    const [span] = spans.getFinishedSpans();
    expect(span!.attributes).toMatchObject({ "http.request.resend_count": 1, "gen_ai.provider.name": "acme" });
    expect(span!.events).toEqual([
      expect.objectContaining({ name: "retry", attributes: expect.objectContaining({ "error.type": "upstream" }) }),
    ]);
  });

  test("report the error that ended a call", async () => {
    const { transport } = await transportFor([{ status: 401, json: "no" }]);
    await failure(transport.rerank({ model: "m", query: "q", documents: ["d"] }));
    const [span] = spans.getFinishedSpans();
    expect(span).toMatchObject({ name: "rerank m", status: { code: 2 } });
    expect(span!.attributes).toMatchObject({ "error.type": "unauthorized", "http.response.status_code": 401 });
  });

  test("end when a stream is left, and when a call is aborted, which is no error", async () => {
    const { transport } = await transportFor([streamed("a", "b"), { hang: true }]);
    for await (const _ of transport.chatStream(ask)) break;
    await failure(transport.embeddings(one, { signal: AbortSignal.timeout(30) }));
    expect(spans.getFinishedSpans().map(({ status }) => status.code)).toEqual([0, 0]);
  });

  test("do not show the key of a service that calls its model by it", async () => {
    const apiKey = "sk-very-secret-0123456789";
    const reply = { json: { model: `tenant-${btoa(apiKey)}`, data: [{ index: 0, embedding: [1, 2] }] } };
    const { transport } = await transportFor([reply], { apiKey });
    await transport.embeddings(one);
    expect(spans.getFinishedSpans().map(({ attributes }) => attributes["gen_ai.response.model"])).toEqual([
      expect.stringMatching(/^tenant-\[key\]/),
    ]);
  });

  test("are not made when telemetry is off", async () => {
    const { transport } = await transportFor([vectors(1)], { telemetry: false });
    await transport.embeddings(one);
    expect(spans.getFinishedSpans()).toEqual([]);
  });
});

describe("metrics", () => {
  test("count duration and tokens by model", async () => {
    const said = { choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }], usage };
    const { transport } = await transportFor([{ json: said }, { json: said }, { status: 401 }]);
    await transport.chat(ask);
    await transport.chat(ask);
    await failure(transport.chat(ask));
    const tokens = await points("gen_ai.client.token.usage");
    const sums = tokens.map(({ attributes, value }) => [
      attributes["gen_ai.token.type"],
      (value as { sum: number }).sum,
    ]);
    expect(sums).toEqual([
      ["input", 6],
      ["output", 10],
    ]);
    const durations = await points("gen_ai.client.operation.duration");
    expect(
      durations.map(({ attributes, value }) => [attributes["error.type"], (value as { count: number }).count]),
    ).toEqual([
      [undefined, 2],
      ["unauthorized", 1],
    ]);
  });

  test("go to a provider that was registered after the first call", async () => {
    metrics.disable();
    const { transport } = await transportFor(() => vectors(1));
    await transport.embeddings(one);
    metrics.setGlobalMeterProvider(meters);
    await transport.embeddings(one);
    expect(await points("gen_ai.client.operation.duration")).toHaveLength(1);
  });
});

test("the package is not loaded while the program has registered nothing with it", async () => {
  const upstream = await scriptedUpstream([vectors(1)]);
  const hooks = new URL("../../support/name-loaded-packages.mjs", import.meta.url).href;
  const script = `
    const { createTransport } = await import("citewell");
    const transport = createTransport({ baseUrl: ${JSON.stringify(upstream.baseUrl)}, apiKey: "key" });
    await transport.embeddings({ model: "m", input: ["a"] });
    await transport.close();`;
  const { exitCode, stderr } = await runNode("--import", [hooks, "--input-type=module", "--eval", script], {
    cwd: root,
  });
  expect(exitCode).toBe(0);
  expect(new Set(stderr.trim().split("\n"))).toContain("citewell");
  expect(stderr).not.toContain("@opentelemetry");
});

test("without the package everything works, and nothing is reported", async () => {
  const { upstream } = await transportFor(() => vectors(1));
  const script = `
    import { createTransport } from "./dist/transport/transport.js";
    const transport = createTransport({ baseUrl: ${JSON.stringify(upstream.baseUrl)} });
    const { vectors } = await transport.embeddings(${JSON.stringify(one)});
    const missing = await import("@opentelemetry/api").then(() => "there", ({ code }) => code);
    console.log(vectors.length, missing);`;
  expect(await runWithPackages(["undici", "zod", "eventsource-parser"], script)).toBe("1 ERR_MODULE_NOT_FOUND");
});

test.each([
  ["1.0, which knew no metrics", { type: "module", exports: "./api.js" }],
  ["2.0, whose modules are elsewhere", { exports: {} }],
])("beside a version %s, everything works, and nothing is reported", async (_, manifest) => {
  const { upstream } = await transportFor(() => vectors(1));
  const script = `
    import { mkdirSync, writeFileSync } from "node:fs";
    const other = new URL("node_modules/@opentelemetry/api/", import.meta.url);
    mkdirSync(other, { recursive: true });
    writeFileSync(new URL("package.json", other), ${JSON.stringify(JSON.stringify(manifest))});
    writeFileSync(new URL("api.js", other), "export const trace = { getTracer: () => ({}) }, context = {};");
    globalThis[Symbol.for("opentelemetry.js.api.1")] = { version: "1.0.4", trace: {} };
    const { createTransport } = await import("./dist/transport/transport.js");
    const { inSpan } = await import("./dist/core/telemetry.js");
    const transport = createTransport({ baseUrl: ${JSON.stringify(upstream.baseUrl)} });
    const { vectors } = await inSpan("work", () => transport.embeddings(${JSON.stringify(one)}));
    console.log(vectors.length);`;
  expect(await runWithPackages(["undici", "zod", "eventsource-parser"], script)).toBe("1");
});
