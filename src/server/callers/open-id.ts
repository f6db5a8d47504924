import { asError } from "../../core/errors.js";
import { Refusal } from "../guard/refusal.js";
import { type Caller, notAdmitted } from "./caller.js";
import { callerOf, personOf } from "./claims.js";
import type { GroupAccess } from "./groups.js";
import { type KeyOfToken, loadJose } from "./jose.js";
import type { ResolvedOpenIdOptions } from "./open-id-options.js";
import type { Provider } from "./provider.js";

/** How far the clocks of provider and server may differ, in seconds. */
const clockToleranceSeconds = 30;

export interface OpenIdSettings {
  readonly options: ResolvedOpenIdOptions;
  readonly provider: Provider;
  /** Absent: everybody sees all documents. */
  readonly groups: Readonly<Record<string, GroupAccess>> | undefined;
  readonly onError: ((error: unknown) => void) | undefined;
}

/** Callers by access tokens of a provider, each a signed JWT. */
export class AccessTokens {
  readonly #settings: OpenIdSettings;
  #keys: Promise<{ readonly issuer: string; readonly keyOf: KeyOfToken }> | undefined;

  constructor(settings: OpenIdSettings) {
    this.#settings = settings;
  }

  /** @throws Refusal (401) for a token that does not hold, (403) for a person who sees nothing, (503) without the provider's keys. */
  async callerOf(token: string): Promise<Caller> {
    const { options, groups } = this.#settings;
    const claims = await this.#verified(token);
    return callerOf(personOf(claims, options, groups), groups);
  }

  async #verified(token: string): Promise<Readonly<Record<string, unknown>>> {
    const jose = await loadJose();
    const { issuer, keyOf } = await this.#providerKeys().catch((error: unknown) => this.#unavailable(error));
    try {
      const { payload } = await jose.jwtVerify(token, keyOf, {
        issuer,
        audience: this.#settings.options.audience,
        algorithms: [...this.#settings.options.algorithms],
        requiredClaims: ["sub", "exp"],
        clockTolerance: clockToleranceSeconds,
      });
      return payload;
    } catch (error) {
      if (error instanceof jose.errors.JWTExpired) throw notAdmitted("This token has expired: sign in again");
      // A server of keys that does not answer, or not with keys, says nothing about the token.
      const isToken = error instanceof jose.errors.JOSEError && !keyFailures.has(error.code);
      if (!isToken) this.#unavailable(error);
      throw notAdmitted("This token is not one that lets you in here");
    }
  }

  #providerKeys() {
    return (this.#keys ??= this.#open().catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    }));
  }

  async #open() {
    const jose = await loadJose();
    const { issuer, jwksUri } = await this.#settings.provider.keys();
    if (jwksUri === undefined) throw new Error(`The provider ${issuer} names no jwks_uri`);
    return { issuer, keyOf: jose.createRemoteJWKSet(new URL(jwksUri)) };
  }

  #unavailable(error: unknown): never {
    this.#settings.onError?.(asError(error));
    throw new Refusal(503, "sign-in", "Who you are cannot be checked now: try again in a moment", {
      "retry-after": "5",
    });
  }
}

/** Codes of jose for keys that cannot be read. */
const keyFailures: ReadonlySet<string> = new Set(["ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID", "ERR_JOSE_GENERIC"]);
