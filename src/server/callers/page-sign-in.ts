import { z } from "zod";
import { roles } from "../access.js";
import { Refusal } from "../guard/refusal.js";
import { type Caller, notAdmitted } from "./caller.js";
import { callerOf, personOf } from "./claims.js";
import type { OpenIdSettings } from "./open-id.js";
import type { PageSignInOptions, ResolvedOpenIdOptions } from "./open-id-options.js";
import { Seal } from "./session.js";

/** Paths below the page, without a slash before them. */
export const signInPath = "api/sign-in";
const donePath = `${signInPath}/done`;

/** Time from leaving for the provider to coming back. */
const pendingMinutes = 10;
const pendingCookie = "citewell-sign-in";

const Pending = z.object({ state: z.string(), nonce: z.string(), codeVerifier: z.string() });
const Person = z.object({ subject: z.string(), role: z.enum(roles), groups: z.array(z.string()) });

/** Answer to a browser: where it goes, with which cookies. */
export interface Going {
  readonly location: string;
  readonly cookies: readonly string[];
}

/** Sign-in of people on the page. A session is a sealed cookie; the server keeps none. */
export class PageSignIn {
  readonly #settings: OpenIdSettings;
  readonly #page: NonNullable<ResolvedOpenIdOptions["page"]> & PageSignInOptions;
  readonly #seal: Seal;
  /** Name of the cookie of a session. */
  readonly #cookie: string;

  constructor(settings: OpenIdSettings, page: NonNullable<ResolvedOpenIdOptions["page"]>, cookie: string) {
    this.#settings = settings;
    this.#page = page;
    this.#cookie = cookie;
    this.#seal = new Seal(page.sessionSecret);
  }

  /** Sends the browser to the provider. */
  async begin(): Promise<Going> {
    const { url, ...pending } = await this.#settings.provider
      .begin(`${this.#page.url}/${donePath}`)
      .catch((error: unknown) => this.#failed(error, 503, "The sign-in service cannot be reached now"));
    const sealed = await this.#seal.seal("sign-in", pending, pendingMinutes);
    // Lax, since the browser comes back from another site.
    return { location: url.href, cookies: [this.#cookieOf(pendingCookie, sealed, "Lax", pendingMinutes)] };
  }

  /**
   * Lets a person in who comes back from the provider.
   *
   * @param query with the question mark; the rest of the address is the page's own, whatever the request says.
   * @throws Refusal (401) when nobody signed in, or another browser did; (403) for a person who sees nothing.
   */
  async finish(query: string, cookies: string): Promise<Going & { readonly caller: Caller }> {
    const { options, groups, provider } = this.#settings;
    const sealed = cookieIn(cookies, pendingCookie);
    const pending = Pending.safeParse(sealed && (await this.#seal.open("sign-in", sealed)));
    if (!pending.success) throw notAdmitted("This sign-in was not begun in this browser, or long ago: begin again");
    const address = new URL(`${this.#page.url}/${donePath}${query}`);
    const claims = await provider
      .finish(address, pending.data)
      .catch((error: unknown) => this.#failed(error, 401, "You were not signed in: begin again"));
    const person = personOf(claims, options, groups);
    const caller = callerOf(person, groups);
    const { sessionMinutes } = this.#page;
    const session = await this.#seal.seal("session", { ...person }, sessionMinutes);
    return {
      caller,
      location: `${this.#page.url}/`,
      cookies: [this.#cookieOf(this.#cookie, session, "Strict", sessionMinutes), this.#gone(pendingCookie)],
    };
  }

  /** @throws Refusal (401) for a session that has ended, or is none; (403) for a person who sees nothing any more. */
  async callerOf(session: string): Promise<Caller> {
    const person = Person.safeParse(await this.#seal.open("session", session));
    if (!person.success) throw notAdmitted("Your session has ended: sign in again");
    return callerOf(person.data, this.#settings.groups);
  }

  #failed(error: unknown, status: number, message: string): never {
    this.#settings.onError?.(error);
    throw new Refusal(status, status === 401 ? "unauthorized" : "sign-in", message);
  }

  #cookieOf(name: string, value: string, sameSite: "Lax" | "Strict", minutes: number): string {
    const { pathname, protocol } = new URL(`${this.#page.url}/`);
    const secure = protocol === "https:" ? "; Secure" : "";
    return `${name}=${value}; Path=${pathname}; Max-Age=${minutes * 60}; HttpOnly; SameSite=${sameSite}${secure}`;
  }

  #gone(name: string): string {
    return this.#cookieOf(name, "", "Lax", 0);
  }
}

function cookieIn(header: string, name: string): string | undefined {
  return header
    .split(/; */)
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}
