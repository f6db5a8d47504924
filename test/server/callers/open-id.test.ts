import { createHmac, createPublicKey, generateKeyPairSync } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, test } from "vitest";
import type { OpenIdOptions } from "../../../src/server/callers/open-id-options.js";
import type { ServerOptions } from "../../../src/server/options.js";
import { audience, openIdProvider } from "../../support/open-id-provider.js";
import { served } from "../../support/served.js";

const page = (tenant: string) => ({
  uri: `${tenant}:keys`,
  title: `Keys of ${tenant}`,
  text: `API keys of ${tenant} expire after 90 days.`,
  metadata: { tenant },
});
const pages = [page("north"), page("south")];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function withProvider(openId: Partial<OpenIdOptions> = {}, options: ServerOptions = {}) {
  const provider = await openIdProvider();
  const server = await served(pages, { openId: { issuer: provider.issuer, audience, ...openId }, ...options });
  const statusOf = async (token: string) => (await server.as(bearer(token)).send("GET", "/api/documents")).status;
  return { ...server, provider, statusOf };
}

describe("an access token of the provider", () => {
  test("lets its person in, with the role and the documents that its claims are mapped to", async () => {
    const north = { filter: { metadata: { tenant: "north" } } };
    const { as, provider } = await withProvider(
      { rolesClaim: "realm_access.roles", roles: { admins: "manage", editors: "add" } },
      { groups: { "/docs/north": north, staff: {} } },
    );
    const clientWith = async (claims: Record<string, unknown>) => as(bearer(await provider.token(claims)));
    const reader = await clientWith({ groups: ["/docs/north", "elsewhere"] });
    expect((await reader.json("GET", "/api/documents")).documents.map(({ uri }) => uri)).toEqual(["north:keys"]);
    expect((await reader.send("DELETE", "/api/documents?uri=north:keys")).status).toBe(403);
    const outsider = await clientWith({ groups: ["elsewhere"] });
    expect((await outsider.json("GET", "/api/documents", undefined, 403)).error.code).toBe("forbidden");
    for (const groups of [undefined, "elsewhere", 7, { staff: true }, [["staff"]], ["constructor"]]) {
      expect([groups, (await (await clientWith({ groups })).send("GET", "/api/documents")).status]).toEqual([
        groups,
        403,
      ]);
    }
    const admin = await clientWith({ groups: "staff", realm_access: { roles: ["editors", "admins"] } });
    expect((await admin.json("GET", "/api/documents")).documents).toHaveLength(2);
    expect((await admin.send("DELETE", "/api/documents?uri=south:keys")).status).toBe(200);
    // A claim whose name has dots in it is no path.
    const other = await clientWith({
      groups: "staff",
      "realm_access.roles": ["editors"],
      realm_access: { roles: "admins" },
    });
    expect((await other.send("DELETE", "/api/documents?uri=north:keys")).status).toBe(403);
  });

  test("is its person's alone: conversations are found again by who began them", async () => {
    const { as, provider } = await withProvider();
    const [ada, bob] = [as(bearer(await provider.token())), as(bearer(await provider.token({ sub: "bob" })))];
    const { id } = (await ada.events("/api/conversations", { question: "When do keys expire?" }))[0] as { id: string };
    expect((await bob.send("GET", `/api/conversations/${id}`)).status).toBe(404);
    const again = as(bearer(await provider.token({ iat: 1 })));
    expect((await again.json("GET", `/api/conversations/${id}`)).history).toHaveLength(1);
  });

  test("is refused when it is forged, expired, for others, or by others", async () => {
    const { provider, statusOf } = await withProvider();
    expect(await statusOf(await provider.token())).toBe(200);
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [
      { exp: now - 60 },
      { exp: undefined },
      { nbf: now + 120 },
      { aud: "another-api" },
      { aud: undefined },
      { aud: [] },
      { iss: "https://login.example.com" },
      { iss: `${provider.issuer}/` },
      { iss: undefined },
      { sub: undefined },
    ]) {
      expect([claims, await statusOf(await provider.token(claims))]).toEqual([claims, 401]);
    }
    const token = await provider.token({ sub: "ada" });
    const [header, , signature] = token.split(".") as [string, string, string];
    const payload = Buffer.from(JSON.stringify({ sub: "root", aud: audience, iss: provider.issuer, exp: now + 300 }));
    for (const forged of [
      `${header}.${payload.toString("base64url")}.${signature}`,
      `${header}.${payload.toString("base64url")}.`,
      token.slice(0, -4),
      `${token}.${signature}`,
      "eyJhbGciOiJub25lIn0.e30.",
      "a.b.c",
      "x",
    ]) {
      expect([forged, await statusOf(forged)]).toEqual([forged, 401]);
    }
    const stranger = await generateKeyPair("RS256");
    const claims = { sub: "ada", aud: audience, iss: provider.issuer, exp: now + 300 };
    const { kid } = provider.publicJwk;
    const signedByStranger = new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: kid! });
    expect(await statusOf(await signedByStranger.sign(stranger.privateKey))).toBe(401);
  });

  test("is not taken for one by another algorithm, or by a key that it brings along", async () => {
    const { provider, statusOf } = await withProvider();
    const now = Math.floor(Date.now() / 1000);
    const claims = { sub: "ada", aud: audience, iss: provider.issuer, exp: now + 300 };
    const { kid } = provider.publicJwk;
    expect(await statusOf(new UnsecuredJWT(claims).encode())).toBe(401);
    // The public key, in each form that people have it, as the secret of a symmetric signature.
    const publicKey = createPublicKey({ key: provider.publicJwk as never, format: "jwk" });
    const secrets = [
      publicKey.export({ type: "spki", format: "pem" }),
      publicKey.export({ type: "spki", format: "pem" }).toString().trim(),
      publicKey.export({ type: "spki", format: "der" }),
      publicKey.export({ type: "pkcs1", format: "pem" }),
      JSON.stringify(provider.publicJwk),
      provider.publicJwk.n!,
      "",
    ];
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const alg of ["HS256", "HS384", "HS512"]) {
      for (const secret of secrets) {
        const body = `${encoded({ alg, kid, typ: "JWT" })}.${encoded(claims)}`;
        const mac = createHmac(alg.replace("HS", "sha"), secret).update(body).digest("base64url");
        expect(await statusOf(`${body}.${mac}`)).toBe(401);
      }
    }
    const own = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const jwk = await exportJWK(own.publicKey);
    for (const header of [
      { jwk },
      { jwk, kid },
      { kid, jku: "http://127.0.0.1:1/jwks", x5u: "http://127.0.0.1:1/x5u" },
      { kid: "../../../../dev/null" },
      { kid: "' UNION SELECT 'secret" },
      { kid: "" },
      { kid, crit: ["b64"], b64: true },
    ]) {
      const signed = new SignJWT(claims).setProtectedHeader({ alg: "RS256", ...header });
      expect([header, await statusOf(await signed.sign(own.privateKey))]).toEqual([header, 401]);
    }
    expect(await statusOf(await provider.token({}, { kid: "of-no-key" }))).toBe(401);
    // An algorithm that is not on the list is refused, even with the right key.
    expect(await statusOf(await provider.token({}, { alg: "PS512" }).catch(() => "x"))).toBe(401);
  });

  test("is checked by the keys that the provider has now, which are not fetched for every forged token", async () => {
    const { provider, statusOf } = await withProvider();
    const old = await provider.token();
    expect(await statusOf(old)).toBe(200);
    for (let at = 0; at < 20; at++) await statusOf(await provider.token({}, { kid: `made-up-${at}` }));
    expect(provider.requests.get("/jwks")).toBeLessThan(4);
    expect(provider.requests.get("/.well-known/openid-configuration")).toBe(1);
  });

  test("cannot be checked while the provider is down: that is no fault of the token, and the log says why", async () => {
    const errors: unknown[] = [];
    const { as, provider, statusOf } = await withProvider({}, { onError: (error) => errors.push(error) });
    const token = await provider.token();
    provider.isDown = true;
    const reply = await as(bearer(token)).json("GET", "/api/documents", undefined, 503);
    expect(reply.error).toEqual({
      code: "sign-in",
      message: "Who you are cannot be checked now: try again in a moment",
    });
    expect(errors.length).toBeGreaterThan(0);
    provider.isDown = false;
    expect(await statusOf(token)).toBe(200);
  });
});

describe("options of sign-in", () => {
  test("cannot allow algorithms of shared secrets, nor a provider whose answers anybody could change", async () => {
    for (const algorithms of [["HS256"], ["none"], []]) {
      await expect(withProvider({ algorithms: algorithms as never })).rejects.toThrow("algorithms");
    }
    await expect(withProvider({ issuer: "http://login.example.com" })).rejects.toThrow("must begin with https://");
    await expect(withProvider({}, { token: "let-me-in-please" })).rejects.toThrow("cannot both say");
    await expect(withProvider({ roles: { admins: "root" as never } })).rejects.toThrow("roles.admins");
    await expect(withProvider({}, { groups: { north: { filter: undefined } } })).rejects.toThrow("filter");
  });
});
