import imported from "robots-parser";
import { LoadError, asError } from "../../core/errors.js";
import { StatusError, type WebClient } from "./web-client.js";
import type { WebSettings } from "./web-options.js";

// Its types say that the function is a property of the module; it is the module.
const robotsParser = imported as unknown as typeof imported.default;

/** Rules of a site for programs. */
export interface RobotRules {
  readonly allows: (url: string) => boolean;
  /** Minimum time between two requests (`Crawl-delay`). */
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
      const parsed = robotsParser(address, withComparablePaths(new TextDecoder().decode(whole)));
      const delayMs = Math.min(1000 * (parsed.getCrawlDelay(userAgent) ?? 0), maxDelayMs);
      return {
        allows: (url) => parsed.isAllowed(comparable(url), userAgent) ?? true,
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

/** The address with its path and query in the one spelling in which rules are compared with it; in a rule `*` and `$` mean more. */
function comparable(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return origin + unescaped(`${pathname}${search}`).replaceAll("*", "%2A").replaceAll("$", "%24");
}

/** A robots.txt whose rules are spelt so, too. A `$` that is not the last character of a rule is one of the path. */
function withComparablePaths(text: string): string {
  return text.replace(
    /^([^\S\r\n]*(?:dis)?allow[^\S\r\n]*:)([^\r\n#]*)/gim,
    (_, field: string, rule: string) => field + unescaped(rule.trimEnd()).replaceAll(/\$(?!$)/g, "%24"),
  );
}

/**
 * RFC 9309, 2.2.2: a letter, digit, or one of `-._~` is the same whether it is escaped or not; any other character that is escaped
 * is not the same as the character itself, but for three that addresses hold escaped in one part and as they are in another.
 */
function unescaped(path: string): string {
  const written = path.replaceAll(/[|^']/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return written.replaceAll(/%[\da-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
}
