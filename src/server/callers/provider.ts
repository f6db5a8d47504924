import type { Configuration } from "openid-client";
import { missingPeer } from "../../core/errors.js";
import { given } from "../../core/given.js";
import type { ResolvedOpenIdOptions } from "./open-id-options.js";

/** A sign-in that was begun is recognised by this when the browser comes back. */
export interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Time that the provider has to answer, in seconds. */
const timeoutSeconds = 10;

const load = () => import("openid-client").catch(missingPeer("openId", "openid-client", "6"));

/** The OpenID Connect provider: its published addresses, and sign-ins at it. */
export class Provider {
  readonly #options: ResolvedOpenIdOptions;
  #discovered: Promise<Configuration> | undefined;

  constructor(options: ResolvedOpenIdOptions) {
    this.#options = options;
  }

  /** Issuer as the provider writes it, and the address of its keys. */
  async keys(): Promise<{ readonly issuer: string; readonly jwksUri: string | undefined }> {
    const { issuer, jwks_uri: jwksUri } = (await this.#configuration()).serverMetadata();
    return { issuer, jwksUri };
  }

  /** Begins a sign-in: the browser is sent to `url`. */
  async begin(redirectUri: string): Promise<Pending & { readonly url: URL }> {
    const client = await load();
    const codeVerifier = client.randomPKCECodeVerifier();
    const [state, nonce] = [client.randomState(), client.randomNonce()];
    const url = client.buildAuthorizationUrl(await this.#configuration(), {
      redirect_uri: redirectUri,
      scope: ["openid", ...(this.#options.page?.scopes ?? [])].join(" "),
      code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: "S256",
      state,
      nonce,
    });
    return { url, state, nonce, codeVerifier };
  }

  /**
   * The claims of the person who has signed in.
   *
   * @param address at which the browser came back, with its query.
   */
  async finish(address: URL, { state, nonce, codeVerifier }: Pending): Promise<Readonly<Record<string, unknown>>> {
    const client = await load();
    const tokens = await client.authorizationCodeGrant(await this.#configuration(), address, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    });
    return { ...tokens.claims() };
  }

  /** Read once; a failure is forgotten, so that the next request asks again. */
  #configuration(): Promise<Configuration> {
    return (this.#discovered ??= this.#discover().catch((error: unknown) => {
      this.#discovered = undefined;
      throw error;
    }));
  }

  async #discover(): Promise<Configuration> {
    const { issuer, audience, page } = this.#options;
    const client = await load();
    const isPlain = issuer.startsWith("http:");
    return client.discovery(
      new URL(issuer),
      page?.clientId ?? audience,
      given({ client_secret: page?.clientSecret }),
      page?.clientSecret === undefined ? client.None() : undefined,
      {
        timeout: timeoutSeconds,
        execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
      },
    );
  }
}
