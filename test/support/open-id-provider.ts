import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { onTestFinished } from "vitest";

/** An OpenID Connect provider on this machine, whose one person is always signed in and consents to everything. */
export interface OpenIdProvider {
  readonly issuer: string;
  /** Claims of the person. */
  claims: Record<string, unknown>;
  /** An access token for `docs-api`. Claims that are `undefined` are left out; the header may be changed, too. */
  readonly token: (claims?: Record<string, unknown>, header?: Record<string, unknown>) => Promise<string>;
  /** The published key, as JSON and as the text of its public half. */
  readonly publicJwk: JWK;
  /** Requests so far, by path. */
  readonly requests: Map<string, number>;
  /** Whether it answers. */
  isDown: boolean;
  /** Signs with a new key from now on, which it publishes instead. */
  readonly rotate: () => Promise<void>;
}

interface Code {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly nonce: string;
}

export const clientId = "docs-page";
export const audience = "docs-api";

export async function openIdProvider(clientSecret?: string): Promise<OpenIdProvider> {
  let pair = await newPair();
  const codes = new Map<string, Code>();
  const requests = new Map<string, number>();
  const server = createServer((request, response) => {
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    };
    const url = new URL(request.url!, issuer);
    requests.set(url.pathname, (requests.get(url.pathname) ?? 0) + 1);
    if (provider.isDown) return send(503, { error: "temporarily_unavailable" });
    if (url.pathname === "/.well-known/openid-configuration") {
      return send(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        code_challenge_methods_supported: ["S256"],
      });
    }
    if (url.pathname === "/jwks") return send(200, { keys: [pair.publicJwk] });
    if (url.pathname === "/authorize") {
      const asked = (name: string) => url.searchParams.get(name) ?? "";
      if (asked("client_id") !== clientId || asked("code_challenge_method") !== "S256") return send(400, {});
      const code = randomUUID();
      codes.set(code, {
        challenge: asked("code_challenge"),
        redirectUri: asked("redirect_uri"),
        nonce: asked("nonce"),
      });
      const back = new URL(asked("redirect_uri"));
      back.searchParams.set("code", code);
      back.searchParams.set("state", asked("state"));
      return send(302, undefined, { location: back.href });
    }
    if (url.pathname === "/token") {
      void redeem(request, send);
      return;
    }
    return send(404, {});
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  async function redeem(
    request: AsyncIterable<Uint8Array>,
    send: (status: number, body: unknown) => void,
  ): Promise<void> {
    const parts: Uint8Array[] = [];
    for await (const part of request) parts.push(part);
    const form = new URLSearchParams(Buffer.concat(parts).toString());
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verifier = form.get("code_verifier") ?? "";
    const isRight =
      code !== undefined &&
      code.challenge === createHash("sha256").update(verifier).digest("base64url") &&
      code.redirectUri === form.get("redirect_uri") &&
      (clientSecret === undefined || form.get("client_secret") === clientSecret);
    if (!isRight) return send(400, { error: "invalid_grant" });
    const idToken = await signed({ ...provider.claims, aud: clientId, nonce: code.nonce });
    return send(200, { access_token: "opaque", token_type: "Bearer", id_token: idToken });
  }

  async function signed(claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const all = { iss: issuer, iat: nowSeconds, exp: nowSeconds + 300, ...claims };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    return new SignJWT(given)
      .setProtectedHeader({ alg: "RS256", kid: pair.publicJwk.kid!, ...header })
      .sign(pair.privateKey);
  }

  const provider: OpenIdProvider = {
    issuer,
    claims: { sub: "ada" },
    token: (claims, header) => signed({ sub: "ada", aud: audience, ...claims }, header),
    get publicJwk() {
      return pair.publicJwk;
    },
    requests,
    isDown: false,
    rotate: async () => {
      pair = await newPair();
    },
  };
  return provider;
}

async function newPair(): Promise<{ readonly privateKey: CryptoKey; readonly publicJwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  return { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid: randomUUID(), alg: "RS256", use: "sig" } };
}
