import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { TransportError, asError } from "../../core/errors.js";
import { parsedJson } from "../../core/json.js";
import { optionsOf, resolve, secretOption } from "../../core/options.js";
import type { CallOptions } from "../../core/ports.js";
import { maxTimerMs } from "../failures/cancellation.js";
import { type VideoTask, parseVideoTask } from "./task.js";

type Query = (id: string, call?: CallOptions) => Promise<VideoTask>;

export interface VideoCallbackOptions {
  /** The transport that queries tasks. The body of a callback proves nothing, so each one is only a reason to query. */
  readonly transport: {
    /** `Transport.videoTask` of the transport. */
    readonly videoTask: Query;
  };
  /**
   * Hears of each change of each task once, in order, as the service itself reports it. When it throws, it is called again,
   * with the task as it is then.
   */
  readonly onTask: (task: VideoTask) => void | Promise<void>;
  /** Called with failed queries and errors that `onTask` throws. Default: nobody is told; polling still finds the task. */
  readonly onError?: (error: Error, taskId: string) => void;
  /**
   * The word that callers must send as `?token=`: callbacks have no signature, so put an unguessable word into
   * `callback_url`. 16 characters or more. Default: none.
   */
  readonly token?: string;
  /**
   * Times in a row that `onTask` is called again after it threw, and a query made again that failed for a passing reason.
   * 0 to 100, default 4. After the last, the task's next callback begins anew.
   */
  readonly maxRetries?: number;
  /** Wait before the first of these, in milliseconds; doubles each time. 0 to 3,600,000, default 1,000. */
  readonly backoffMs?: number;
  /** Tasks that may be queried at a time; callbacks beyond are answered 503. 1 to 100,000, default 1,000. */
  readonly maxPending?: number;
  /** Tasks whose last status is remembered. 1 or more, default 10,000. */
  readonly maxRemembered?: number;
}

const videoCallbackOptions = optionsOf<VideoCallbackOptions>()({
  transport: z.custom<VideoCallbackOptions["transport"]>(
    (value) => typeof (value as { videoTask?: unknown } | null)?.videoTask === "function",
    "must be a transport",
  ),
  onTask: z.custom<(task: VideoTask) => void | Promise<void>>(isFunction, "must be a function"),
  onError: z.custom<(error: Error, taskId: string) => void>(isFunction, "must be a function").optional(),
  token: secretOption(16).optional(),
  maxRetries: z.int().min(0).max(100).default(4),
  backoffMs: z.number().min(0).max(3_600_000).default(1000),
  maxPending: z.int().min(1).max(100_000).default(1000),
  maxRemembered: z.int().min(1).default(10_000),
});

/** Receives the service's callbacks, in any server. */
export interface VideoCallbacks {
  /** For servers that speak `Request` and `Response`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For `node:http`. Reads the body; a framework must not have read it before. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Resolves when no callback is being handled. */
  readonly idle: () => Promise<void>;
}

const maxBodyBytes = 1024 * 1024;

/**
 * Answers at once and works later: a callback counts as a hint to query its task. Repeated and belated callbacks change
 * nothing.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { createTransport } from "citewell";
 * import { videoCallbacks } from "citewell/video";
 * const transport = createTransport({ baseUrl: "https://service.example/api", apiKey: "key" });
 * const callbacks = videoCallbacks({ transport, onTask: ({ id, status }) => console.log(id, status) });
 * createServer(callbacks.handle).listen(8080);
 * ```
 */
export function videoCallbacks(options: VideoCallbackOptions): VideoCallbacks {
  const settings = resolve("videoCallbacks", videoCallbackOptions, options);
  const inbox = new Inbox(settings);
  const receive = async (method: string, url: URL, body: () => Promise<string | undefined>): Promise<number> => {
    if (method !== "POST") return 405;
    if (settings.token !== undefined && !sameText(url.searchParams.get("token") ?? "", settings.token)) return 401;
    const text = await body();
    if (text === undefined) return 413;
    const task = parseVideoTask(parsedJson(text));
    if (!task) return 400;
    return inbox.put(task.id) ? 204 : 503;
  };
  return {
    fetch: async (request) => {
      const body = () => limitedText(request.body ?? []);
      return new Response(null, { status: await receive(request.method, new URL(request.url), body) });
    },
    handle: (request, response) => {
      const url = new URL(request.url ?? "/", "http://receiver");
      void receive(request.method ?? "", url, () => limitedText(request))
        .catch(() => 400)
        .then((status) => response.writeHead(status).end());
    },
    idle: () => inbox.idle(),
  };
}

/** Queries tasks, each by one query at a time, and reports changes. */
class Inbox {
  readonly #settings: z.output<typeof videoCallbackOptions>;
  /** Queries under way; `again` when another callback came meanwhile, so that the answer may be older than it. */
  readonly #pending = new Map<string, { again: boolean; done: Promise<void> }>();
  /** The last reported tasks by id, oldest first. */
  readonly #told = new Map<string, VideoTask>();

  constructor(settings: z.output<typeof videoCallbackOptions>) {
    this.#settings = settings;
  }

  /** Returns false when there is no room. */
  put(id: string): boolean {
    const pending = this.#pending.get(id);
    if (pending) pending.again = true;
    else if (this.#pending.size >= this.#settings.maxPending) return false;
    else {
      const entry = { again: false, done: Promise.resolve() };
      this.#pending.set(id, entry);
      entry.done = this.#work(id, entry);
    }
    return true;
  }

  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all([...this.#pending.values()].map(({ done }) => done));
  }

  async #work(id: string, entry: { again: boolean }): Promise<void> {
    const { maxRetries, backoffMs, onError } = this.#settings;
    try {
      for (let failures = 0; ;) {
        entry.again = false;
        const failed = await this.#tell(id);
        if (failed) onError?.(asError(failed.thrown), id);
        if (!entry.again && !(failed?.mayPass && failures < maxRetries)) break;
        if (failed) await sleep(Math.min(backoffMs * 2 ** Math.min(failures, maxRetries), maxTimerMs));
        failures = failed ? failures + 1 : 0;
      }
    } finally {
      this.#pending.delete(id);
    }
  }

  /** Queries a task, and reports it if it is news. What `onTask` did not take stays news. */
  async #tell(id: string): Promise<{ readonly thrown: unknown; readonly mayPass: boolean } | undefined> {
    let task: VideoTask | undefined;
    try {
      task = await this.#settings.transport.videoTask(id);
      if (isNews(task, this.#told.get(id))) {
        await this.#settings.onTask(task);
        this.#remember(task);
      }
      return undefined;
    } catch (thrown) {
      return { thrown, mayPass: task !== undefined || (thrown instanceof TransportError && thrown.retryable) };
    }
  }

  #remember(task: VideoTask): void {
    this.#told.delete(task.id);
    this.#told.set(task.id, task);
    if (this.#told.size <= this.#settings.maxRemembered) return;
    const [oldest] = this.#told.keys();
    this.#told.delete(oldest!);
  }
}

const order: Readonly<Record<string, number>> = { queued: 0, running: 1 };

/** Whether a task is newer than the one reported before: never the same twice, nor a step back. Pure. */
export function isNews(task: VideoTask, told: VideoTask | undefined): boolean {
  if (!told) return true;
  if (told.finished) return false;
  const rank = ({ finished, status }: VideoTask) => (finished ? 2 : (order[status] ?? 1));
  if (rank(task) !== rank(told)) return rank(task) > rank(told);
  const index = (one: VideoTask) => one.updatedAt?.getTime() ?? 0;
  return index(task) > index(told) || (index(task) === index(told) && task.status !== told.status);
}

function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Reads the body as text; `undefined` when it is too long. */
async function limitedText(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | ReadableStream<Uint8Array>,
): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > maxBodyBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
