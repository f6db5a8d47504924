import type * as OpenTelemetry from "@opentelemetry/api";
import type { Context, Span } from "@opentelemetry/api";
import { CitewellError, isAbsentPackage } from "./errors.js";
import type { OpenSpan, SpanAttributes, Tracing } from "./tracing.js";

export type { Attributes, Histogram, Meter, MeterProvider, Tracer, TracerProvider } from "@opentelemetry/api";

/** OpenTelemetry's interface, as a value. */
export type TelemetryApi = typeof OpenTelemetry;

/** Names this library in spans and metrics. */
export const scopeName = "citewell";

/** OpenTelemetry's API, if the program has it in a version with metrics (1.3 or newer); otherwise nothing is reported. */
export async function loadTelemetryApi(): Promise<TelemetryApi | undefined> {
  try {
    const api: Partial<TelemetryApi> = await import("@opentelemetry/api");
    return "createNoopMeter" in api ? (api as TelemetryApi) : undefined;
  } catch (error) {
    if (isAbsentPackage(error)) return undefined;
    throw error;
  }
}

// Where version 1 of the interface keeps what was registered, so that copies of it in one process share it:
// https://github.com/open-telemetry/opentelemetry-js/blob/main/api/src/internal/global-utils.ts
const registered = Symbol.for("opentelemetry.js.api.1");

const global = globalThis as { readonly [registered]?: { readonly trace?: unknown } };

/** Whether a provider of spans is registered; costs nothing, and loads nothing. */
function isTraced(): boolean {
  return global[registered]?.trace !== undefined;
}

/** Whether any provider, of spans or of metrics, is registered; costs and loads nothing either. */
export function isObserved(): boolean {
  return global[registered] !== undefined;
}

/** Spans of a run that begins now, below the span that it begins in; `undefined` if nothing records them. */
export async function openTracing(): Promise<Tracing | undefined> {
  if (!isTraced()) return undefined;
  const api = await loadTelemetryApi();
  if (!api) return undefined;
  const { context, trace } = api;
  const run = context.active();
  return {
    stage: (name) => openSpan(api, name, {}, run),
    step: (name, attributes) =>
      openSpan(api, name, attributes, trace.getSpan(context.active()) ? context.active() : run),
  };
}

/** Does work in a span of its own, below the one that it begins in. The signal's own reason is no failure of it. */
export async function inSpan<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const span = (await openTracing())?.step(name, {});
  if (!span) return work();
  span.start();
  let failure: unknown;
  try {
    return await span.within(work);
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) failure = error;
    throw error;
  } finally {
    span.end({ failure });
  }
}

interface StreamSpanOptions<T> {
  readonly signal?: AbortSignal | undefined;
  /** Error that an item reports, if any. */
  readonly failureOf?: (item: T) => unknown;
}

/** A run whose items come in a span of their own, until the last, or until the reader leaves. */
export function streamInSpan<T>(
  name: string,
  open: () => AsyncGenerator<T>,
  options: StreamSpanOptions<T> = {},
): AsyncGenerator<T> {
  // Without tracing, nothing stands between the items and their reader.
  return isTraced() ? spanOverStream(name, open, options) : open();
}

async function* spanOverStream<T>(
  name: string,
  open: () => AsyncGenerator<T>,
  { signal, failureOf }: StreamSpanOptions<T>,
): AsyncGenerator<T> {
  const span = (await openTracing())?.step(name, {});
  if (!span) {
    yield* open();
    return;
  }
  span.start();
  const items = span.within(open);
  let failure: unknown;
  const fails = (error: unknown) => {
    if (error !== undefined && (!signal?.aborted || error !== signal.reason)) failure = error;
  };
  try {
    for (;;) {
      const next = await span.within(() => items.next());
      if (next.done) return;
      fails(failureOf?.(next.value));
      yield next.value;
    }
  } catch (error) {
    fails(error);
    throw error;
  } finally {
    await span.within(() => items.return(undefined));
    span.end({ failure });
  }
}

function openSpan(
  { context, trace, SpanStatusCode }: TelemetryApi,
  name: string,
  attributes: SpanAttributes,
  parent: Context,
): OpenSpan {
  let span: Span | undefined;
  const started = () => (span ??= trace.getTracer(scopeName).startSpan(name, { attributes }, parent));
  // A stage is called before its first item arrives, so the parent span of its work begins with that work.
  const whenUsed = new Proxy({} as Span, {
    get: (_, key) => {
      const value: unknown = Reflect.get(started(), key);
      return typeof value === "function" ? (value.bind(started()) as unknown) : value;
    },
  });
  const inside = trace.setSpan(parent, whenUsed);
  return {
    within: (work) => context.with(inside, work),
    start: () => void started(),
    end: ({ endedAt, failure } = {}) => {
      if (failure !== undefined) {
        started().setAttribute("error.type", failure instanceof CitewellError ? failure.code : errorName(failure));
        started().setStatus({ code: SpanStatusCode.ERROR });
      }
      span?.end(endedAt ?? performance.now());
    },
  };
}

function errorName(failure: unknown): string {
  return failure instanceof Error ? failure.name : "_OTHER";
}
