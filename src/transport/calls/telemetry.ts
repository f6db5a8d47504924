import type { OperationName } from "../../contract/operations.js";
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
} from "../../core/telemetry.js";
import type { TransportEvent } from "./events.js";

/** One call to be traced. */
export interface TracedCall {
  readonly operation: OperationName;
  readonly model: string;
  readonly body: unknown;
}

/** The service that the calls go to. */
export interface TracedService {
  readonly baseUrl: string;
  readonly providerName: string;
}

/** Opens telemetry if the program has OpenTelemetry's interface. */
export async function loadTelemetry(service: TracedService): Promise<Telemetry | undefined> {
  const api = await loadTelemetryApi();
  return api && new Telemetry(api, service);
}

// The names and bucket bounds of the semantic conventions for generative AI are written out, because the packages that
// hold them change them between minor versions: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
const durationMetric = {
  name: "gen_ai.client.operation.duration",
  unit: "s",
  description: "Duration of a call, retries included",
  bounds: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
};
const tokensMetric = {
  name: "gen_ai.client.token.usage",
  unit: "{token}",
  description: "Tokens of a call, as the service counted them",
  bounds: [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864],
};

interface Instruments {
  readonly provider: MeterProvider;
  readonly duration: Histogram;
  readonly tokens: Histogram;
}

/** Spans and metrics of calls, when a provider is registered. Texts never go in. */
export class Telemetry {
  readonly #api: TelemetryApi;
  readonly #tracer: Tracer;
  readonly #service: Attributes;
  /** The placeholders that OpenTelemetry uses while no provider is registered. */
  readonly #unregistered: { readonly tracers: TracerProvider; readonly meter: Meter };
  #instruments: Instruments | undefined;

  constructor(api: TelemetryApi, { baseUrl, providerName }: TracedService) {
    const { hostname, port, protocol } = new URL(baseUrl);
    this.#api = api;
    this.#tracer = api.trace.getTracer(scopeName);
    this.#unregistered = { tracers: new api.ProxyTracerProvider().getDelegate(), meter: api.createNoopMeter() };
    this.#service = {
      "gen_ai.provider.name": providerName,
      "server.address": hostname,
      "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    };
  }

  /**
   * Opens a span under the caller's, and returns a listener for the call's events, the last of which closes the span.
   * `undefined` when no provider is registered.
   */
  begin({ operation, model, body }: TracedCall): ((event: TransportEvent) => void) | undefined {
    if (!this.#isRegistered()) return undefined;
    const { SpanKind, SpanStatusCode } = this.#api;
    const startedAtMs = performance.now();
    const common: Attributes = {
      "gen_ai.operation.name": operation,
      "gen_ai.request.model": model,
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
          if (event.attempt > 1) span.setAttribute("http.request.resend_count", event.attempt - 1);
          break;
        case "retry": {
          const { reason, delayMs, status } = event;
          const attributes = { "error.type": reason, "citewell.retry.delay_ms": delayMs, ...statusAttribute(status) };
          span.addEvent("retry", attributes);
          break;
        }
        case "reply": {
          const { usage, answeredBy, status } = event;
          const answered = answeredBy === undefined ? {} : { "gen_ai.response.model": answeredBy };
          span.setAttributes({ ...answered, ...statusAttribute(status) });
          if (usage) {
            const { inputTokens, outputTokens } = usage;
            span.setAttributes({
              "gen_ai.usage.input_tokens": inputTokens,
              "gen_ai.usage.output_tokens": outputTokens,
            });
            this.#countTokens(inputTokens, { ...common, ...answered, "gen_ai.token.type": "input" });
            this.#countTokens(outputTokens, { ...common, ...answered, "gen_ai.token.type": "output" });
          }
          end(answered);
          break;
        }
        case "failure": {
          const failed = { "error.type": event.code };
          span.setAttributes({ ...failed, ...statusAttribute(event.status) });
          // The caller's own abort is not an error of the call.
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

  #isRegistered(): boolean {
    const { trace, metrics, ProxyTracerProvider } = this.#api;
    const provider = trace.getTracerProvider();
    const tracers = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider;
    const { tracers: noTracers, meter: noMeter } = this.#unregistered;
    return tracers !== noTracers || metrics.getMeter(scopeName) !== noMeter;
  }

  #countTokens(count: number, attributes: Attributes): void {
    if (count > 0) this.#meters().tokens.record(count, attributes);
  }

  /** A provider may be registered at any time, and instruments belong to the provider that made them. */
  #meters(): Instruments {
    const provider = this.#api.metrics.getMeterProvider();
    if (this.#instruments?.provider === provider) return this.#instruments;
    const meter = provider.getMeter(scopeName);
    const histogram = ({ name, unit, description, bounds }: typeof durationMetric) =>
      meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: bounds } });
    this.#instruments = { provider, duration: histogram(durationMetric), tokens: histogram(tokensMetric) };
    return this.#instruments;
  }
}

function statusAttribute(status: number | undefined): Attributes {
  return status === undefined ? {} : { "http.response.status_code": status };
}

/** Settings of a request, never its texts. */
function requestAttributes(body: unknown): Attributes {
  const { max_tokens, temperature, top_p, encoding_format } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const numbers = Object.entries({
    "gen_ai.request.max_tokens": max_tokens,
    "gen_ai.request.temperature": temperature,
    "gen_ai.request.top_p": top_p,
  }).filter(([, value]) => typeof value === "number") as [string, number][];
  return {
    ...Object.fromEntries(numbers),
    ...(typeof encoding_format === "string" && { "gen_ai.request.encoding_formats": [encoding_format] }),
  };
}
