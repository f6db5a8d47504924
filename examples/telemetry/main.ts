// Traces and metrics of an ingest and of an ask, through OpenTelemetry's SDK and its console exporters. In production, an OTLP
// exporter takes their place, and nothing else changes.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { collectAnswer, createTransport, openKnowledgeBase } from "citewell";
import { startLocalService } from "citewell/local";

// `@opentelemetry/sdk-node` does these three for you.
context.setGlobalContextManager(new AsyncLocalStorageContextManager());
const tracing = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] });
trace.setGlobalTracerProvider(tracing);
const reader = new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() });
const metering = new MeterProvider({ readers: [reader] });
metrics.setGlobalMeterProvider(metering);

const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const kb = await openKnowledgeBase({
  path: await mkdtemp(join(tmpdir(), "citewell-")),
  transport,
  models: { embedding: "citewell/local-lexical", chat: "citewell/local-extractive" },
});

// Spans of the application are the parents of the library's.
await trace.getTracer("app").startActiveSpan("request", async (span) => {
  await kb.ingest([{ uri: "note:1", text: "API keys expire after 90 days." }]);
  console.log((await collectAnswer(kb.ask("When do API keys expire?"))).text);
  span.end();
});
for (const each of [kb, transport, service]) await each.close();
await Promise.all([tracing.shutdown(), metering.shutdown()]);
