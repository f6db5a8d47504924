import { createRequire } from "node:module";
import type { Counter, Gauge, Histogram, OpenMetricsContentType, Registry } from "prom-client";
import { missingPeer } from "../../core/errors.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";

type PromClient = typeof import("prom-client");

/** Upper bounds in seconds, from a search in memory to a long answer. */
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Sizes change slowly, and each measurement asks for every file or table of the store. */
const sizesFreshMs = 60_000;

/** State of a process, read whenever the figures are. */
export interface MetricsSource {
  readonly store: Pick<KnowledgeBase["store"], "counts" | "sizes">;
  /** Number of answers being made. */
  readonly answersInProgress: () => number;
  /** Number of searches that wait for a reader. */
  readonly searchesWaiting: () => number;
  /** Number of threads that search. */
  readonly readers: () => number;
}

/** How an answer ended, as far as it is counted. */
export interface AnswerEnd {
  readonly outcome: "answered" | "declined" | "waiting" | "stopped" | "failed";
  /** Code of the error, if it failed. */
  readonly code?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/**
 * The figures of one server, in a registry of its own: two servers in one process do not add up. Labels are routes, codes and
 * models, never a question, an address of a document or a caller.
 */
export class Metrics {
  readonly #registry: Registry<OpenMetricsContentType>;
  readonly #requests: Counter<"method" | "route" | "status">;
  readonly #durations: Histogram<"route">;
  readonly #answers: Counter<"outcome">;
  readonly #firstEvents: Histogram;
  readonly #tokens: Counter<"model" | "direction">;
  readonly #cost: Counter;
  readonly #errors: Counter<"code">;

  /** @throws OptionsError (`missing-package`) without the package `prom-client`. */
  constructor({ store, answersInProgress, searchesWaiting, readers }: MetricsSource) {
    const client = loadPromClient();
    const registry = new client.Registry<OpenMetricsContentType>();
    registry.setContentType(client.Registry.OPENMETRICS_CONTENT_TYPE);
    const registers = [registry];
    this.#registry = registry;
    this.#requests = new client.Counter({
      name: "citewell_http_requests",
      help: "Requests answered, by method, route and status",
      labelNames: ["method", "route", "status"],
      registers,
    });
    this.#durations = new client.Histogram({
      name: "citewell_http_request_duration_seconds",
      help: "Time to the reply, or to the beginning of a streamed one",
      labelNames: ["route"],
      buckets: durationBounds,
      registers,
    });
    this.#answers = new client.Counter({
      name: "citewell_answers",
      help: "Answers by how they ended: answered, declined, waiting, stopped or failed",
      labelNames: ["outcome"],
      registers,
    });
    this.#firstEvents = new client.Histogram({
      name: "citewell_answer_first_event_seconds",
      help: "Time from a question to the first event of its answer",
      buckets: durationBounds,
      registers,
    });
    this.#tokens = new client.Counter({
      name: "citewell_chat_tokens",
      help: "Tokens of answers, by model and direction",
      labelNames: ["model", "direction"],
      registers,
    });
    this.#cost = new client.Counter({
      name: "citewell_answer_cost",
      help: "Cost of answers by the transport's prices, in their currency; answers without a price are left out",
      registers,
    });
    this.#errors = new client.Counter({
      name: "citewell_errors",
      help: "Requests and answers that failed, by code",
      labelNames: ["code"],
      registers,
    });
    gauge("citewell_answers_in_progress", "Answers being made", answersInProgress);
    gauge("citewell_searches_waiting", "Searches that wait for a thread", searchesWaiting);
    gauge("citewell_search_threads", "Threads that search", readers);
    let counts = store.counts().catch(() => undefined);
    gauge("citewell_store_documents", "Documents in the store", async () => {
      counts = store.counts().catch(() => undefined);
      return (await counts)?.documents;
    });
    gauge("citewell_store_chunks", "Chunks in the store", async () => (await counts)?.chunks);
    const measured = rarely(async () => store.sizes?.(), sizesFreshMs);
    registry.registerMetric(
      new client.Gauge({
        name: "citewell_store_bytes",
        help: "Bytes of the store by part, measured once a minute: database, indexes, conversations and other_generations",
        labelNames: ["part"],
        registers: [],
        async collect(this: Gauge<"part">) {
          const sizes = await measured();
          this.reset();
          if (!sizes) return;
          this.set({ part: "database" }, sizes.databaseBytes);
          this.set({ part: "indexes" }, sizes.indexBytes);
          this.set({ part: "conversations" }, sizes.conversationBytes);
          this.set({ part: "other_generations" }, sizes.otherGenerationBytes);
        },
      }),
    );
    client.collectDefaultMetrics({ register: registry });

    function gauge(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
      const made = new client.Gauge({
        name,
        help,
        registers: [],
        async collect(this: Gauge) {
          const value = await read();
          // A store that cannot be read has no size, which is not 0.
          if (value === undefined) this.reset();
          else this.set(value);
        },
      });
      registry.registerMetric(made);
    }
  }

  /** Counts a request whose reply begins. @param route pattern of the path, never the path itself. */
  request(method: string, route: string, status: number, milliseconds: number): void {
    this.#requests.inc({ method, route, status: String(status) });
    this.#durations.observe({ route }, milliseconds / 1000);
  }

  /** Counts a failure by its code. */
  failure(code: string): void {
    this.#errors.inc({ code });
  }

  /** Counts the cost of an answer. */
  paid(cost: number): void {
    this.#cost.inc(cost);
  }

  /** Passes the events of an answer on, and counts its time, tokens and end. */
  async *answer<Event>(
    events: AsyncIterable<Event>,
    endOf: (event: Event) => AnswerEnd | undefined,
  ): AsyncGenerator<Event> {
    const startedMs = performance.now();
    let isFirst = true;
    let end: AnswerEnd = { outcome: "stopped" };
    try {
      for await (const event of events) {
        if (isFirst) this.#firstEvents.observe((performance.now() - startedMs) / 1000);
        isFirst = false;
        end = endOf(event) ?? end;
        yield event;
      }
    } finally {
      this.#count(end);
    }
  }

  /** The figures as Prometheus and its kin read them. */
  async reply(): Promise<Response> {
    return new Response(await this.#registry.metrics(), {
      headers: { "content-type": this.#registry.contentType, "cache-control": "no-store" },
    });
  }

  #count({ outcome, code, model, inputTokens, outputTokens }: AnswerEnd): void {
    this.#answers.inc({ outcome });
    if (code !== undefined) this.failure(code);
    if (model === undefined) return;
    if (inputTokens !== undefined) this.#tokens.inc({ model, direction: "input" }, inputTokens);
    if (outputTokens !== undefined) this.#tokens.inc({ model, direction: "output" }, outputTokens);
  }
}

/**
 * Reads again what is older than `maxAgeMs`, and meanwhile returns what was read before: only the first caller waits.
 *
 * @returns `undefined` while it cannot be read.
 */
function rarely<Value>(read: () => Promise<Value>, maxAgeMs: number): () => Promise<Value | undefined> {
  let begunAtMs = -Infinity;
  let first: Promise<void> | undefined;
  let latest: Value | undefined;
  const again = async () => {
    latest = await read().catch(() => undefined);
  };
  return async () => {
    if (performance.now() - begunAtMs >= maxAgeMs) {
      begunAtMs = performance.now();
      const reading = again();
      first ??= reading;
    }
    await first;
    return latest;
  };
}

function loadPromClient(): PromClient {
  try {
    return createRequire(import.meta.url)("prom-client") as PromClient;
  } catch (error) {
    return missingPeer("metrics", "prom-client", "15")(error);
  }
}
