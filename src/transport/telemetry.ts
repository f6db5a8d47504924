import type { OperationName } from "../contract/operations.js";
import {
  type Attributes,
  type Histogram,
  type Meter,
  type MeterProvider,
  type TelemetryApi,
  type Tracer,
  type TracerProvider,
  loadTelemetryApi,
  scopeName,
} from "../telemetry.js";
import type { TransportEvent } from "./events.js";
import { genAi, genAiMetrics } from "./gen-ai-names.js";

/** One call to be told of. */
export interface TracedCall {
  readonly operation: OperationName;
  readonly model: string;
  readonly body: unknown;
}

/** Whom the calls go to. */
export interface TracedService {
  readonly baseUrl: string;
  readonly providerName: string;
}

/** OpenTelemetry's interface, if the program has it. */
export async function loadTelemetry(service: TracedService): Promise<Telemetry | undefined> {
  const api = await loadTelemetryApi();
  return api && new Telemetry(api, service);
}

interface Instruments {
  readonly provider: MeterProvider;
  readonly duration: Histogram;
  readonly tokens: Histogram;
}

/**
 * Spans and metrics of calls by the semantic conventions for generative AI, where a provider is registered. Texts never
 * go in.
 */
export class Telemetry {
  readonly #api: TelemetryApi;
  readonly #tracer: Tracer;
  readonly #service: Attributes;
  /** What stands in for providers that nobody has registered. */
  readonly #nobody: { readonly tracers: TracerProvider; readonly meter: Meter };
  #instruments: Instruments | undefined;

  constructor(api: TelemetryApi, { baseUrl, providerName }: TracedService) {
    const { hostname, port, protocol } = new URL(baseUrl);
    this.#api = api;
    this.#tracer = api.trace.getTracer(scopeName);
    this.#nobody = { tracers: new api.ProxyTracerProvider().getDelegate(), meter: api.createNoopMeter() };
    this.#service = {
      [genAi.providerName]: providerName,
      [genAi.serverAddress]: hostname,
      [genAi.serverPort]: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    };
  }

  /**
   * Opens a span under the caller's, to be fed with the call's events; the last of them closes it. Nothing where nobody
   * would hear of it.
   */
  begin({ operation, model, body }: TracedCall): ((event: TransportEvent) => void) | undefined {
    if (!this.#isHeard()) return undefined;
    const { SpanKind, SpanStatusCode } = this.#api;
    const startedAtMs = performance.now();
    const common: Attributes = {
      [genAi.operationName]: operation,
      [genAi.requestModel]: model,
      ...this.#service,
    };
    const span = this.#tracer.startSpan(`${operation} ${model}`, {
      kind: SpanKind.CLIENT,
      attributes: { ...common, ...requestAttributes(body) },
    });
    const end = (more: Attributes) => {
      this.#meters().duration.record((performance.now() - startedAtMs) / 1000, { ...common, ...more });
      span.end();
    };
    return (event) => {
      switch (event.type) {
        case "request":
          if (event.attempt > 1) span.setAttribute(genAi.resendCount, event.attempt - 1);
          break;
        case "retry": {
          const { reason, delayMs, status } = event;
          span.addEvent("retry", {
            [genAi.errorType]: reason,
            "citewell.retry.delay_ms": delayMs,
            ...(status !== undefined && { [genAi.statusCode]: status }),
          });
          break;
        }
        case "reply": {
          const { usage, answeredBy, status } = event;
          const answered = answeredBy === undefined ? {} : { [genAi.responseModel]: answeredBy };
          span.setAttributes({ ...answered, [genAi.statusCode]: status });
          if (usage) {
            span.setAttributes({ [genAi.inputTokens]: usage.inputTokens, [genAi.outputTokens]: usage.outputTokens });
            this.#countTokens(usage.inputTokens, { ...common, ...answered, [genAi.tokenType]: "input" });
            this.#countTokens(usage.outputTokens, { ...common, ...answered, [genAi.tokenType]: "output" });
          }
          end(answered);
          break;
        }
        case "failure": {
          const failed = { [genAi.errorType]: event.code };
          span.setAttributes({ ...failed, ...(event.status !== undefined && { [genAi.statusCode]: event.status }) });
          // The caller's own abort is no error of the call.
          if (event.code !== "aborted") span.setStatus({ code: SpanStatusCode.ERROR });
          end(failed);
          break;
        }
        case "left":
          end({});
          break;
        case "cool-down":
        case "warning":
          break;
      }
    };
  }

  #isHeard(): boolean {
    const { trace, metrics, ProxyTracerProvider } = this.#api;
    const provider = trace.getTracerProvider();
    const tracers = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider;
    return tracers !== this.#nobody.tracers || metrics.getMeter(scopeName) !== this.#nobody.meter;
  }

  #countTokens(count: number, attributes: Attributes): void {
    if (count > 0) this.#meters().tokens.record(count, attributes);
  }

  /** A provider may be registered at any time: instruments belong to the one that made them. */
  #meters(): Instruments {
    const provider = this.#api.metrics.getMeterProvider();
    if (this.#instruments?.provider === provider) return this.#instruments;
    const meter = provider.getMeter(scopeName);
    const histogram = ({ name, unit, description, bounds }: (typeof genAiMetrics)[keyof typeof genAiMetrics]) =>
      meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds] } });
    this.#instruments = {
      provider,
      duration: histogram(genAiMetrics.duration),
      tokens: histogram(genAiMetrics.tokens),
    };
    return this.#instruments;
  }
}

/** Settings of a request, never its texts. */
function requestAttributes(body: unknown): Attributes {
  const { max_tokens, temperature, top_p, encoding_format } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const numbers = [
    [genAi.requestMaxTokens, max_tokens],
    [genAi.requestTemperature, temperature],
    [genAi.requestTopP, top_p],
  ] as const;
  return {
    ...Object.fromEntries(numbers.filter(([, value]) => typeof value === "number")),
    ...(typeof encoding_format === "string" && { [genAi.requestEncodingFormats]: [encoding_format] }),
  };
}
