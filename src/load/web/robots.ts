import imported from "robots-parser";
import { LoadError, asError } from "../../errors.js";
import { StatusError, type WebClient } from "./web-client.js";
import type { WebOptions } from "./web-options.js";

// Its types say that the function is a property of the module; it is the module.
const robotsParser = imported as unknown as typeof imported.default;

/** What a site asks of programs. */
export interface RobotRules {
  readonly allows: (url: string) => boolean;
  /** Least time between two requests that it asks for. */
  readonly delayMs: number;
  /** Addresses of its sitemaps. */
  readonly sitemaps: readonly string[];
}

const longestDelayMs = 60_000;

/**
 * The rules of each site that is visited, asked for once. Where there is no robots.txt, all is allowed; where the server
 * cannot say, nothing is, as RFC 9309 has it.
 */
export class Robots {
  readonly #client: WebClient;
  readonly #options: Pick<WebOptions, "robots" | "userAgent">;
  readonly #gapMs: number;
  readonly #known = new Map<string, Promise<RobotRules>>();

  constructor(client: WebClient, options: Pick<WebOptions, "robots" | "userAgent" | "requestsPerSecond">) {
    this.#client = client;
    this.#options = options;
    this.#gapMs = 1000 / options.requestsPerSecond;
  }

  /** @throws LoadError when the server could not be asked. */
  of(url: string, signal: AbortSignal): Promise<RobotRules> {
    const { origin } = new URL(url);
    let rules = this.#known.get(origin);
    if (!rules) {
      rules = this.#ask(origin, signal);
      this.#known.set(origin, rules);
    }
    return rules;
  }

  async #ask(origin: string, signal: AbortSignal): Promise<RobotRules> {
    const everything = { allows: () => true, delayMs: this.#gapMs, sitemaps: [] };
    if (!this.#options.robots) return everything;
    const address = `${origin}/robots.txt`;
    const { userAgent } = this.#options;
    try {
      const { bytes } = await this.#client.get(address, { signal, gapMs: this.#gapMs });
      const parsed = robotsParser(address, new TextDecoder().decode(bytes));
      const delayMs = Math.min(1000 * (parsed.getCrawlDelay(userAgent) ?? 0), longestDelayMs);
      return {
        allows: (url) => parsed.isAllowed(url, userAgent) ?? true,
        delayMs: Math.max(this.#gapMs, delayMs),
        sitemaps: parsed.getSitemaps(),
      };
    } catch (thrown) {
      if (thrown instanceof StatusError && thrown.status < 500 && thrown.status !== 429) return everything;
      signal.throwIfAborted();
      const { message } = asError(thrown);
      throw new LoadError("unreadable", address, `${message}: while robots.txt cannot be asked, nothing is fetched`, {
        cause: thrown,
      });
    }
  }
}
