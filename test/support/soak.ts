import { Agent, type Dispatcher } from "undici";
import { TransportError } from "../../src/core/errors.js";
import { FailedAttempt } from "../../src/transport/failures/failure.js";
import { type Transport, createTransport } from "../../src/transport/transport.js";
import { type Fault, startFaultyUpstream } from "./faulty-upstream.js";

export interface SoakReport {
  /** Calls with the right result. */
  readonly right: number;
  /** Calls with a wrong result: must be none. */
  readonly wrong: number;
  /** Calls that ended in an error, by its code. */
  readonly failed: Readonly<Record<string, number>>;
  /** Requests sent, as the transport reports. */
  readonly reported: number;
  /** Requests sent, as the connections saw them. */
  readonly sent: number;
  /** Requests of them that timed out; they may have arrived or not. */
  readonly givenUp: ReadonlySet<string>;
  /** The fault or reply that each arrived request got. */
  readonly served: ReadonlyMap<string, Fault | "answered">;
  /** Maximum number of requests that waited for headers at once, without those that were given up. */
  readonly maxWaiting: number;
  /** Connections that the service still held after `close()`. */
  readonly connectionsLeft: number;
  /** Timers and sockets of this process that were not there before. */
  readonly resourcesLeft: readonly string[];
}

export interface Soaking {
  readonly calls: number;
  readonly concurrency: number;
  readonly seed: number;
  /** Timeout of calls that get no answer. Shorter than an answer takes, it loses calls, but every one is accounted for. */
  readonly readTimeoutMs: number;
}

/** Makes calls of all kinds, `concurrency` at a time, against a service that fails one in five. */
export async function soak({ calls, concurrency, seed, readTimeoutMs }: Soaking): Promise<SoakReport> {
  const upstream = await startFaultyUpstream(seed);
  const before = resources();
  let waiting = 0;
  let maxWaiting = 0;
  let sent = 0;
  const givenUp = new Set<string>();
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const counting = agent.compose((dispatch) => (options, handler) => {
    const number = String(sent++);
    maxWaiting = Math.max(maxWaiting, ++waiting);
    let counted = true;
    const answered = () => {
      if (counted) waiting--;
      counted = false;
    };
    const early = new EarlyAbortController((reason) => {
      if (reason instanceof FailedAttempt) givenUp.add(number);
      answered();
    });
    // Started at once: connections learn much later that a request waiting for them was given up.
    handler.onRequestStart?.(early, {});
    const numbered = {
      ...options,
      headers: { ...(options.headers as Readonly<Record<string, string>>), "x-number": number },
    };
    return dispatch(numbered, {
      onRequestStart: (controller) => early.begin(controller),
      onResponseStart: (_, status, headers, message) => {
        answered();
        handler.onResponseStart?.(early, status, headers, message);
      },
      onResponseData: (_, chunk) => handler.onResponseData?.(early, chunk),
      onResponseEnd: (_, trailers) => handler.onResponseEnd?.(early, trailers),
      onResponseError: (_, error) => {
        answered();
        handler.onResponseError?.(early, error);
      },
    });
  });
  const transport = createTransport({
    baseUrl: upstream.baseUrl,
    dispatcher: counting,
    concurrency,
    backoffMs: 2,
    maxBackoffMs: 8,
    readTimeoutMs,
    streamIdleMs: 2000,
  });

  let right = 0;
  let wrong = 0;
  const failed: Record<string, number> = {};
  let next = 0;
  const worker = async () => {
    for (let number = next++; number < calls; number = next++) {
      try {
        if ((await ask(transport, number)) === number) right++;
        else wrong++;
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        failed[error.code] = (failed[error.code] ?? 0) + 1;
      }
    }
  };
  // More callers than slots, so that some always wait.
  await Promise.all(Array.from({ length: concurrency * 3 }, worker));

  const reported = transport.totals()["m"]!.requests;
  await transport.close();
  // A transport closes its own connections in this way.
  await agent.destroy();
  const connectionsLeft = await settled(upstream.openConnections);
  await upstream.close();
  const resourcesLeft = await settledResources(before);
  const { served } = upstream;
  return { right, wrong, failed, reported, sent, givenUp, served, maxWaiting, connectionsLeft, resourcesLeft };
}

/** Notices an abort at once, and passes everything on to the connection as soon as there is one. */
class EarlyAbortController implements Dispatcher.DispatchController {
  reason: Error | null = null;
  readonly #onAbort: (reason: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(onAbort: (reason: Error) => void) {
    this.#onAbort = onAbort;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  get paused(): boolean {
    return this.#controller?.paused ?? false;
  }

  begin(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.reason) controller.abort(this.reason);
  }

  abort(reason: Error): void {
    this.reason = reason;
    this.#onAbort(reason);
    this.#controller?.abort(reason);
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }
}

/** Asks for a number in one of four ways. */
async function ask(transport: Transport, number: number): Promise<number> {
  const model = "m";
  const text = `number ${number}`;
  switch (number % 4) {
    case 0:
      return (await transport.embeddings({ model, input: [text], encoding_format: "float" })).vectors[0]![0]!;
    case 1:
      return (await transport.rerank({ model, query: text, documents: ["d"] })).results[0]!.score;
    case 2:
      return Number((await transport.chat({ model, messages: [{ role: "user", content: text }] })).text);
    default: {
      let said = "";
      for await (const event of transport.chatStream({ model, messages: [{ role: "user", content: text }] })) {
        if (event.type === "text-delta") said += event.text;
      }
      return Number(said);
    }
  }
}

/** Timers and sockets that keep this process alive. */
function resources(): readonly string[] {
  return process.getActiveResourcesInfo().filter((kind) => /^(Timeout|TCPSocketWrap|TCPWRAP)$/.test(kind));
}

async function settledResources(before: readonly string[]): Promise<readonly string[]> {
  const count = (all: readonly string[], kind: string) => all.filter((one) => one === kind).length;
  const more = () => {
    const now = resources();
    return [...new Set(now)].filter((kind) => count(now, kind) > count(before, kind));
  };
  await settled(() => Promise.resolve(more().length));
  return more();
}

/** The count once it is 0, or whatever it is after ten seconds, because the other end notices a close later. */
async function settled(count: () => Promise<number>): Promise<number> {
  for (let left = 1000; left > 0 && (await count()) > 0; left--)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return count();
}

/** The figures that do not add up; empty if all do. */
export function discrepancies(report: SoakReport, { calls, concurrency }: Soaking): readonly string[] {
  const { right, wrong, failed, reported, sent, givenUp, served, maxWaiting, connectionsLeft, resourcesLeft } = report;
  const failures = Object.values(failed).reduce((sum, count) => sum + count, 0);
  const lost = Array.from({ length: sent }, (_, number) => String(number)).filter(
    (number) => !served.has(number) && !givenUp.has(number),
  );
  const unknown = [...served.keys()].filter((number) => !(Number(number) < sent));
  // A garbage reply is final, so each one that was still awaited causes one failure.
  const garbage = [...served].filter(([number, what]) => what === "garbage" && !givenUp.has(number)).length;
  const unexpected = Object.keys(failed).filter((code) => !expected.has(code));
  return [
    ...(right + wrong + failures === calls ? [] : [`${calls} calls, but ${right + wrong + failures} ends`]),
    ...(wrong === 0 ? [] : [`${wrong} calls got what another asked for`]),
    ...(reported === sent ? [] : [`${reported} requests were reported, but ${sent} were sent`]),
    ...(lost.length === 0 ? [] : [`${lost.length} requests were neither given up nor did they arrive`]),
    ...(unknown.length === 0 ? [] : [`${unknown.length} requests arrived that nobody sent`]),
    ...((failed["reply"] ?? 0) === garbage
      ? []
      : [`${garbage} replies of garbage, ${failed["reply"]} failures of that kind`]),
    ...(unexpected.length === 0 ? [] : [`failures of kinds nobody caused: ${unexpected.join(", ")}`]),
    ...(maxWaiting <= concurrency ? [] : [`${maxWaiting} requests waited at once, the cap is ${concurrency}`]),
    ...(connectionsLeft === 0 ? [] : [`${connectionsLeft} connections were left open`]),
    ...(resourcesLeft.length === 0 ? [] : [`left behind: ${resourcesLeft.join(", ")}`]),
  ];
}

const expected = new Set(["reply", "truncated", "rate-limited", "upstream", "network", "timeout"]);

/** How many requests arrived, by what the service did to them. */
export function servedByKind({ served }: SoakReport): ReadonlyMap<Fault | "answered", number> {
  const counts = new Map<Fault | "answered", number>();
  for (const what of served.values()) counts.set(what, (counts.get(what) ?? 0) + 1);
  return counts;
}
