import { setTimeout as wait } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { TransportError, type TransportErrorCode } from "../../core/errors.js";
import { httpClient } from "../../network/http-client.js";

export interface HubOptions {
  readonly endpoint: string;
  readonly token: string | undefined;
  readonly proxyUrl: string | undefined;
  readonly noProxy: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** A reply whose body is unread. */
export type HubReply = Pick<Dispatcher.ResponseData, "statusCode" | "body"> & {
  /** Headers of the first reply, names in lower case: a hub states the hash before it redirects. */
  readonly stated: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
};

const maxRedirects = 5;
const maxAttempts = 6;
const maxWaitMs = 60_000;
const idleTimeoutMs = 60_000;

const operation = "models pull";

/** HTTP client of a hub, with retries. The token is sent to the hub's own address only, and appears in no message. */
export class HubClient {
  readonly #options: HubOptions;
  readonly #dispatcher: Dispatcher;
  readonly #origin: string;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#origin = new URL(options.endpoint).origin;
    const { Agent, EnvHttpProxyAgent } = httpClient();
    const timeouts = { headersTimeout: idleTimeoutMs, bodyTimeout: idleTimeoutMs };
    const { proxyUrl, noProxy } = options;
    // Empty settings keep undici from reading the environment itself.
    this.#dispatcher =
      proxyUrl === undefined
        ? new Agent(timeouts)
        : new EnvHttpProxyAgent({ ...timeouts, httpProxy: proxyUrl, httpsProxy: proxyUrl, noProxy: noProxy.join(",") });
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  /** Waits before attempt `attempt` is repeated, or throws the error when that was the last. */
  async pause(attempt: number, error: TransportError): Promise<void> {
    if (!error.retryable || attempt >= maxAttempts) throw error;
    const backoffMs = 100 * 2 ** attempt * (0.5 + Math.random() / 2);
    const delayMs = error.retryAfterMs ?? backoffMs;
    if (delayMs > maxWaitMs) throw error;
    await wait(delayMs, undefined, { ...(this.#options.signal && { signal: this.#options.signal }) }).catch(() => {
      this.#options.signal?.throwIfAborted();
    });
  }

  /** The JSON at a path of the hub, by as many attempts as it takes. */
  async json(path: string, what: string): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { body } = await this.get(path, what);
        return JSON.parse(await body.text()) as unknown;
      } catch (error) {
        await this.pause(attempt, this.failure(error, what));
      }
    }
  }

  /**
   * Sends one request, and follows where it leads.
   *
   * @throws TransportError for a status that is neither 200, 206 nor 416.
   */
  async get(path: string, what: string, headers: Readonly<Record<string, string>> = {}): Promise<HubReply> {
    const { endpoint, token, signal } = this.#options;
    let url = new URL(endpoint.replace(/\/+$/, "") + path);
    let stated: Readonly<Record<string, string>> | undefined;
    for (let hop = 0; hop <= maxRedirects; hop++) {
      const reply = await httpClient()
        .request(url, {
          dispatcher: this.#dispatcher,
          headers: {
            ...headers,
            "accept-encoding": "identity",
            "user-agent": "citewell",
            ...(token !== undefined && url.origin === this.#origin && { authorization: `Bearer ${token}` }),
          },
          signal: signal ?? null,
        })
        .catch((error: unknown) => Promise.reject(this.failure(error, what)));
      const found = plainHeaders(reply.headers);
      stated ??= found;
      const { statusCode, body } = reply;
      if (statusCode >= 300 && statusCode < 400 && found["location"] !== undefined) {
        await body.dump();
        url = new URL(found["location"], url);
        continue;
      }
      if (statusCode === 200 || statusCode === 206 || statusCode === 416) {
        return { statusCode, body, headers: found, stated };
      }
      await body.dump();
      throw refusal(statusCode, what, {
        origin: url.origin,
        hasToken: token !== undefined,
        retryAfter: found["retry-after"],
      });
    }
    throw new TransportError("reply", `${this.#origin} led ${what} elsewhere more than ${maxRedirects} times`, {
      operation,
    });
  }

  /** An error as one of ours; a connection that broke may be tried again. */
  failure(error: unknown, what: string): TransportError {
    this.#options.signal?.throwIfAborted();
    if (error instanceof TransportError) return error;
    const said = error instanceof Error ? (error.cause instanceof Error ? error.cause : error).message : String(error);
    if (error instanceof SyntaxError) {
      const message = `${this.#origin} answered for ${what} with something else than JSON: is it a hub?`;
      return new TransportError("reply", message, { operation, cause: error });
    }
    const message = `${what} could not be fetched from ${this.#origin}: ${said || "the connection broke"}`;
    return new TransportError("network", message, { operation, cause: error, retryable: true });
  }
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value].flat()[0] ?? ""]])),
  );
}

function refusal(
  status: number,
  what: string,
  { origin, hasToken, retryAfter }: { origin: string; hasToken: boolean; retryAfter: string | undefined },
): TransportError {
  const [code, problem]: [TransportErrorCode, string] =
    status === 401
      ? [
          "unauthorized",
          hasToken
            ? "the token in HF_TOKEN was not accepted, or may not read it"
            : "there is no such model, or only those may read it who set HF_TOKEN",
        ]
      : status === 403
        ? ["forbidden", "its owner has to grant access first, on its page at the hub"]
        : status === 404
          ? ["not-found", "there is no such model, revision or file"]
          : status === 429
            ? ["rate-limited", "too many requests; try again later, or set HF_TOKEN"]
            : status >= 500
              ? ["upstream", "the hub failed"]
              : ["refused", "the hub refused"];
  const seconds = Number(retryAfter);
  return new TransportError(code, `${what} could not be fetched from ${origin} (status ${status}): ${problem}`, {
    operation,
    status,
    retryable: status === 429 || status >= 500,
    ...(retryAfter !== undefined && Number.isFinite(seconds) && { retryAfterMs: seconds * 1000 }),
  });
}
