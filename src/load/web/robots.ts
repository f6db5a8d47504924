import imported from "robots-parser";
import { LoadError, asError } from "../../core/errors.js";
import { StatusError, type WebClient } from "./web-client.js";
import type { WebSettings } from "./web-options.js";

// Its types say that the function is a property of the module; it is the module.
const robotsParser = imported as unknown as typeof imported.default;

/** Rules of a site for programs. */
export interface RobotRules {
  readonly allows: (url: string) => boolean;
  /** Time between two requests that it asks for, at least. */
  readonly delayMs: number;
  /** Addresses of its sitemaps. */
  readonly sitemaps: readonly string[];
}

const maxDelayMs = 60_000;
/** 500 KiB, which is what a program has to read of a longer file at least: RFC 9309, 2.5. */
const maxBytes = 500 * 1024;

/**
 * Fetches the rules of each visited site once. Without a robots.txt everything is allowed; when the server fails to answer,
 * nothing is, as RFC 9309 says.
 */
export class Robots {
  readonly #client: WebClient;
  readonly #options: Pick<WebSettings, "robots" | "userAgent" | "requestsPerSecond">;
  readonly #known = new Map<string, Promise<RobotRules>>();

  constructor(client: WebClient, options: Pick<WebSettings, "robots" | "userAgent" | "requestsPerSecond">) {
    this.#client = client;
    this.#options = options;
  }

  /** @throws LoadError when the server fails to answer. */
  of(url: string, signal: AbortSignal): Promise<RobotRules> {
    const { origin } = new URL(url);
    const rules = this.#known.get(origin) ?? this.#ask(origin, signal);
    this.#known.set(origin, rules);
    return rules;
  }

  async #ask(origin: string, signal: AbortSignal): Promise<RobotRules> {
    const { robots, userAgent, requestsPerSecond } = this.#options;
    const gapMs = 1000 / requestsPerSecond;
    const everything = { allows: () => true, delayMs: gapMs, sitemaps: [] };
    if (!robots) return everything;
    const address = `${origin}/robots.txt`;
    try {
      const { bytes } = await this.#client.get(address, { signal, gapMs, firstBytes: maxBytes });
      // A rule that was cut in two would mean something else.
      const whole = bytes.length < maxBytes ? bytes : bytes.subarray(0, Buffer.from(bytes).lastIndexOf("\n") + 1);
      const parsed = robotsParser(address, new TextDecoder().decode(whole));
      const delayMs = Math.min(1000 * (parsed.getCrawlDelay(userAgent) ?? 0), maxDelayMs);
      return {
        allows: (url) => parsed.isAllowed(url, userAgent) ?? true,
        delayMs: Math.max(gapMs, delayMs),
        sitemaps: parsed.getSitemaps(),
      };
    } catch (thrown) {
      if (thrown instanceof StatusError && thrown.status < 500 && thrown.status !== 429) return everything;
      signal.throwIfAborted();
      const message = `${asError(thrown).message}: while robots.txt cannot be read, nothing is fetched`;
      throw new LoadError("unreadable", address, message, { cause: thrown });
    }
  }
}
