import { readFileSync } from "node:fs";
import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterEach, expect, test } from "vitest";
import { collectAnswer, openKnowledgeBase, TransportError } from "citewell";
import { localUpstream } from "../support/local-upstream.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const guide = readFileSync(new URL("../../examples/telemetry/README.md", import.meta.url), "utf8");
const service = localUpstream();

afterEach(() => {
  for (const api of [trace, metrics, context]) api.disable();
});

/** Payload of the exporters, as far as the tests read it. */
interface Exported {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[] }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly ExportedMetric[] }[];
  }[];
}

interface ExportedSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

interface ExportedMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram: { readonly dataPoints: readonly { readonly attributes: readonly { readonly key: string }[] }[] };
}

/** Runs an ingest, an ask and a failing call, and exports their telemetry by OTLP to a collector. */
async function exportTo(url: string): Promise<string> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const tracing = new BasicTracerProvider({
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces`, timeoutMillis: 1000 }))],
  });
  trace.setGlobalTracerProvider(tracing);
  const exporter = new OTLPMetricExporter({ url: `${url}/v1/metrics`, timeoutMillis: 1000 });
  const metering = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  metrics.setGlobalMeterProvider(metering);
  const kb = await openKnowledgeBase({
    path: await temporaryFolder(),
    transport: service.transport,
    models: { embedding: "citewell/local-lexical", chat: "citewell/local-extractive" },
  });
  const text = await trace.getTracer("app").startActiveSpan("request", async (span) => {
    await kb.ingest([{ uri: "note:1", text: "API keys expire after 90 days." }]);
    const answer = await collectAnswer(kb.ask("When do API keys expire?"));
    span.end();
    return answer.text;
  });
  await kb.close();
  const failing = service.transport.embeddings({ model: "gone", input: ["a"] });
  await expect(failing).rejects.toBeInstanceOf(TransportError);
  await Promise.allSettled([tracing.shutdown(), metering.shutdown()]);
  return text;
}

test("a collector gets the spans and metrics that the guide names, and no others", async () => {
  const collector = await scriptedUpstream(() => ({ json: {} }));
  await exportTo(collector.baseUrl);
  const bodies = collector.requests.map(({ body }) => body as Exported);
  const spans = bodies.flatMap(({ resourceSpans = [] }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
  const tree = ({ name, spanId }: ExportedSpan, indent = ""): string =>
    [`${indent}${name}\n`, ...below(spanId).map((span) => tree(span, `${indent}  `))].join("");
  const below = (id: string) => spans.filter(({ parentSpanId }) => parentSpanId === id);
  expect(tree(spans.find(({ name }) => name === "request")!)).toBe(/^```\n(request\n[^`]+)```$/m.exec(guide)![1]);

  const measured = bodies.flatMap(({ resourceMetrics = [] }) =>
    resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics)),
  );
  const emitted = measured.map(({ name, unit, histogram }) => {
    const keys = histogram.dataPoints.flatMap(({ attributes }) => attributes.map(({ key }) => key));
    return [name, unit, [...new Set(keys)].toSorted()];
  });
  const rows = [...guide.matchAll(/^\| `(\S+)` +\| `(\S+)` +\|[^|]+\|([^|]+)\|$/gm)];
  const documented = rows.map(([, name, unit, attributes]) => {
    const keys = [...attributes!.matchAll(/`([\w.]+)`/g)].map(([, key]) => key!);
    return [name, unit, keys.toSorted()];
  });
  expect(emitted).toEqual(documented);
});

test("a collector that is down costs no ingest and no answer", async () => {
  const collector = await scriptedUpstream([]);
  await collector.close();
  expect(await exportTo(collector.baseUrl)).toContain("90 days");
});
