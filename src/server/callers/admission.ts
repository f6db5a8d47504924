import { given } from "../../core/given.js";
import type { CheckedAccess } from "../access.js";
import { Refusal } from "../guard/refusal.js";
import type { SignIns } from "../guard/sign-ins.js";
import { isRightToken, isToken, type SentToken, sentToken, sessionCookie, tokenCookie } from "../guard/token.js";
import { type Caller, notAdmitted } from "./caller.js";
import { isKey, keyCookie, readKey, readKeyCookie } from "./key.js";
import type { Keys } from "./keys.js";
import type { AccessTokens } from "./open-id.js";
import { type PageSignIn, signInPath } from "./page-sign-in.js";

/** Tells the page where people sign in. */
export const signInHeader = "x-citewell-sign-in";

export interface AdmissionSettings {
  /** Shared by all callers. */
  readonly token: string | undefined;
  /** Asked where callers have no keys and no tokens of their own. */
  readonly access: CheckedAccess;
  readonly signIns: SignIns;
  readonly keys: Keys | undefined;
  readonly accessTokens: AccessTokens | undefined;
  readonly pageSignIn: PageSignIn | undefined;
  /** Path of the page and the API. */
  readonly cookiePath: string;
}

/** Decides who sends a request. */
export class Admission {
  readonly #settings: AdmissionSettings;

  constructor(settings: AdmissionSettings) {
    this.#settings = settings;
  }

  /** Whether callers are told apart by keys or tokens of their own. */
  get isPersonal(): boolean {
    const { keys, accessTokens } = this.#settings;
    return keys !== undefined || accessTokens !== undefined;
  }

  /** Sign-in of people on the page; absent without a provider. */
  get pageSignIn(): PageSignIn | undefined {
    return this.#settings.pageSignIn;
  }

  /**
   * @param address of the caller, where it is known.
   * @throws Refusal for a caller that is not let in.
   */
  async admit(request: Request, address: string | undefined): Promise<Caller> {
    if (this.isPersonal) return this.#person(request);
    const { token, access } = this.#settings;
    if (token !== undefined) await this.requireToken(request, address, token);
    const seen = await access.of(request);
    if (!seen) throw token === undefined ? unknownCaller() : this.#refusal(needsToken, undefined);
    return { access: seen, ...given({ name: seen.owner }) };
  }

  /** @throws Refusal for a request without the right token. */
  async requireToken(request: Request, address: string | undefined, right: string): Promise<void> {
    const sent = sentToken(request);
    if (sent && (await this.#settings.signIns.check(address, () => isRightToken(sent, right)))) return;
    throw this.#refusal(needsToken, sent);
  }

  /** The header that sets the page's cookie, or deletes it. */
  cookie(value: string | undefined): string {
    return sessionCookie(value, this.#settings.cookiePath);
  }

  /**
   * Value of the page's cookie for a token or key that was typed there.
   *
   * @throws Refusal (401) for a wrong one.
   */
  async cookieFor(text: string, address: string | undefined): Promise<string> {
    const { token, keys, signIns } = this.#settings;
    if (token !== undefined && !this.isPersonal) {
      if (await signIns.check(address, () => isToken(text, token))) return tokenCookie(token);
      throw this.#refusal(needsToken, undefined);
    }
    const key = keys && readKey(text);
    if (!key) throw this.#refusal("This is no key of this server", undefined);
    await keys.callerOf(text, false);
    return keyCookie(key);
  }

  async #person(request: Request): Promise<Caller> {
    const sent = sentToken(request);
    try {
      if (sent) return await this.#callerOf(sent);
    } catch (error) {
      throw error instanceof Refusal && error.status === 401 ? this.#refusal(error.message, sent) : error;
    }
    throw this.#refusal("Sign in first, or send a key as Authorization: Bearer …", undefined);
  }

  #callerOf({ text, isCookie }: SentToken): Promise<Caller> {
    const { keys, accessTokens, pageSignIn } = this.#settings;
    const kind = isCookie ? readKeyCookie(text) !== undefined : isKey(text);
    if (kind && keys) return keys.callerOf(text, isCookie);
    if (!kind && isCookie && pageSignIn) return pageSignIn.callerOf(text);
    if (!kind && !isCookie && accessTokens) return accessTokens.callerOf(text);
    throw notAdmitted("Callers are not known by this here");
  }

  #refusal(message: string, sent: SentToken | undefined): Refusal {
    return notAdmitted(message, {
      ...(!sent && { "www-authenticate": "Bearer" }),
      ...(this.#settings.pageSignIn && { [signInHeader]: signInPath }),
      // A cookie that does not hold any more would be sent, and refused, with every request.
      ...(sent?.isCookie && { "set-cookie": this.cookie(undefined) }),
    });
  }
}

const needsToken = "A token is needed, and a right one: send it as Authorization: Bearer …";

/** Only `access` knows how a request identifies its caller. */
function unknownCaller(): Refusal {
  return notAdmitted("This server does not know who you are, or lets you see nothing. Sign in first", {
    "www-authenticate": "Bearer",
  });
}
