import { seededRandom } from "../../src/core/random.js";

export interface SimulatedIngest {
  readonly workers: number;
  /** Requests that are needed when none fails: batches of texts. */
  readonly batches: number;
  /** Requests of one worker in flight. */
  readonly concurrency: number;
  /** Limit of the service for all workers together, kept as they keep it: a tenth at once, the rest spread over the minute. */
  readonly requestsPerMinute: number;
  /** Mean time of a request in milliseconds; each takes between half and one and a half of it. */
  readonly latencyMs: number;
  /** Share of requests that fail, 0 to below 1. They are sent again by whoever is free. */
  readonly failureShare: number;
  /** Time that the one thread of a worker has to itself for each request, in milliseconds. Default: 0. */
  readonly workMs?: number;
  /** Mean wait before a request that failed is sent again, in milliseconds. Default: 250, the transport's. */
  readonly backoffMs?: number;
  /** Mean life of a worker in seconds, after which it is killed with its requests in flight. Default: it lives on. */
  readonly lifeSeconds?: number;
  /** Time until a killed worker is replaced and its batches are taken by others, in seconds. Default: 30. */
  readonly recoverySeconds?: number;
  readonly seed: number;
}

export interface SimulatedRun {
  readonly seconds: number;
  /** Requests sent, those that failed or were lost included. */
  readonly requests: number;
  /** Requests whose answer came to a worker that was dead by then: paid for twice. */
  readonly lost: number;
  readonly kills: number;
  /** Share of the service's limit that was used. */
  readonly limitUsed: number;
}

/**
 * Runs an ingestion in simulated time. Each of a worker's slots takes a batch from the queue, waits for its turn under the
 * rate limit that all share, and for the answer. Each worker has a machine of its own, and the database keeps nobody
 * waiting.
 */
export function simulateIngest(ingest: SimulatedIngest): SimulatedRun {
  const { workers, concurrency, requestsPerMinute, latencyMs, failureShare, lifeSeconds = Infinity, seed } = ingest;
  const { recoverySeconds = 30, workMs = 0, backoffMs = 250 } = ingest;
  const random = seededRandom(seed);
  const burst = Math.max(1, Math.floor(requestsPerMinute / 10));
  const gap = 60 / Math.max(requestsPerMinute - burst, 1);
  const lifeFrom = (time: number) =>
    lifeSeconds === Infinity ? Infinity : time - lifeSeconds * Math.log(1 - random());
  const deaths = Array.from({ length: workers }, () => lifeFrom(0));
  /** Since when each worker lives. */
  const births = Array.from({ length: workers }, () => 0);
  /** When the thread of each worker is free. */
  const threads = Array.from({ length: workers }, () => 0);
  /** When each slot is free, as a heap by time. */
  const slots = new TimeHeap();
  for (let worker = 0; worker < workers; worker++) for (let slot = 0; slot < concurrency; slot++) slots.push(0, worker);
  let [nextTurn, open, requests, lost, kills, end] = [0, ingest.batches, 0, 0, 0, 0];
  /** Times at which batches can be taken again that failed, or whose worker died. */
  const returning = new TimeHeap();
  while (open > 0 || returning.size > 0) {
    const [free, worker] = slots.pop();
    if (free < births[worker]!) {
      slots.push(births[worker]!, worker);
      continue;
    }
    if (open === 0) {
      const [time] = returning.pop();
      open++;
      slots.push(Math.max(free, time), worker);
      continue;
    }
    if (free >= deaths[worker]!) {
      kills++;
      const restarted = deaths[worker]! + recoverySeconds;
      deaths[worker] = lifeFrom(restarted);
      births[worker] = restarted;
      slots.push(Math.max(free, restarted), worker);
      continue;
    }
    const sent = Math.max(free, threads[worker]! + workMs / 1000, nextTurn - (burst - 1) * gap);
    if (sent >= deaths[worker]!) {
      slots.push(deaths[worker]!, worker);
      continue;
    }
    nextTurn = Math.max(sent, nextTurn) + gap;
    threads[worker] = sent;
    const answered = sent + (latencyMs / 1000) * (0.5 + random());
    requests++;
    open--;
    if (answered > deaths[worker]!) {
      lost++;
      returning.push(deaths[worker]! + recoverySeconds, worker);
    } else if (random() < failureShare) returning.push(answered + (backoffMs / 1000) * 2 * random(), worker);
    else end = Math.max(end, answered);
    slots.push(answered, worker);
  }
  return { seconds: end, requests, lost, kills, limitUsed: (requests * 60) / requestsPerMinute / end };
}

/** The earliest first. */
class TimeHeap {
  readonly #items: (readonly [number, number])[] = [];

  get size(): number {
    return this.#items.length;
  }

  push(time: number, worker: number): void {
    const items = this.#items;
    let at = items.length;
    items.push([time, worker]);
    for (let parent = (at - 1) >> 1; at > 0 && items[parent]![0] > time; parent = (at - 1) >> 1) {
      [items[at], items[parent]] = [items[parent]!, items[at]!];
      at = parent;
    }
  }

  pop(): readonly [number, number] {
    const items = this.#items;
    const first = items[0]!;
    const last = items.pop()!;
    if (items.length === 0) return first;
    items[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < items.length && items[left]![0] < items[least]![0]) least = left;
      if (right < items.length && items[right]![0] < items[least]![0]) least = right;
      if (least === at) return first;
      [items[at], items[least]] = [items[least]!, items[at]!];
      at = least;
    }
  }
}
