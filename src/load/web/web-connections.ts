import { lookup } from "node:dns/promises";
import type { Dispatcher } from "undici";
import { OptionsError } from "../../core/errors.js";
import { type MayReach, guardedLookup } from "../../network/addresses.js";
import { httpClient } from "../../network/http-client.js";
import type { WebSettings } from "./web-options.js";

interface Guard {
  /** Decides whether an address may be connected to. */
  readonly mayReach: MayReach;
  readonly refusal: (what: string) => Error;
}

/**
 * The connections for pages: direct ones go to the address that was checked. Through a proxy, which resolves names by itself, a name
 * is checked as far as it can be resolved here.
 */
export class WebConnections {
  readonly #direct: Dispatcher;
  /** Dispatchers of the schemes that have a proxy. */
  readonly #proxies: ReadonlyMap<string, Dispatcher>;
  readonly #guard: Guard;
  readonly #checks = new Map<string, Promise<void>>();

  /** @throws OptionsError for a proxy without an address, which is not quoted: it may hold a password. */
  constructor({ requestTimeoutMs, httpProxyUrl, httpsProxyUrl, noProxy }: WebSettings, guard: Guard) {
    const { Agent, EnvHttpProxyAgent } = httpClient();
    const connect = { timeout: requestTimeoutMs, lookup: guardedLookup(guard.mayReach, guard.refusal) };
    this.#guard = guard;
    this.#direct = new Agent({ connect });
    const given = { "http:": httpProxyUrl, "https:": httpsProxyUrl };
    this.#proxies = new Map(
      Object.entries(given).flatMap(([scheme, url]) => {
        if (url === undefined) return [];
        checkProxy(scheme, url);
        // Named by options, it reads nothing of the environment. A plain request is handed to the proxy, not tunnelled:
        // few proxies open tunnels to port 80.
        const own = { httpProxy: url, httpsProxy: url, noProxy: noProxy.join(","), proxyTunnel: false };
        return [[scheme, new EnvHttpProxyAgent({ ...own, connect })] as const];
      }),
    );
  }

  /** The dispatcher for an address. Rejects when its host name is known to resolve to a forbidden address. */
  async dispatcherFor({ protocol, hostname }: URL): Promise<Dispatcher> {
    const proxy = this.#proxies.get(protocol);
    if (!proxy) return this.#direct;
    let check = this.#checks.get(hostname);
    if (!check) this.#checks.set(hostname, (check = this.#check(hostname)));
    await check;
    return proxy;
  }

  async close(): Promise<void> {
    await Promise.all([this.#direct, ...this.#proxies.values()].map((agent) => agent.destroy()));
  }

  async #check(hostname: string): Promise<void> {
    const { mayReach, refusal } = this.#guard;
    const found = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true }).catch(() => []);
    const refused = found.find(({ address }) => !mayReach(address));
    if (refused) throw refusal(`${hostname} is ${refused.address}`);
  }
}

function checkProxy(scheme: string, url: string): void {
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return;
  const option = scheme === "http:" ? "httpProxyUrl" : "httpsProxyUrl";
  throw new OptionsError("options", `${option} must start with http:// or https://`, { option });
}
