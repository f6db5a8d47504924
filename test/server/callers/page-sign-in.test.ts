import { describe, expect, test } from "vitest";
import type { AuditEntry } from "../../../src/server/operations/audit.js";
import type { ServerOptions } from "../../../src/server/options.js";
import { audience, clientId, openIdProvider } from "../../support/open-id-provider.js";
import { served } from "../../support/served.js";

const documents = [{ uri: "keys", title: "Keys", text: "API keys expire after 90 days." }];
/** Address of the page for browsers, which is not the one that the test sends to: a proxy stands between. */
const url = "https://docs.example.com/help";

async function withPage(options: ServerOptions = {}, secret?: string) {
  const provider = await openIdProvider(secret);
  const openId = {
    issuer: provider.issuer,
    audience,
    page: { clientId, url, ...(secret !== undefined && { clientSecret: secret }) },
  };
  const server = await served(documents, { openId, hosts: ["docs.example.com", "127.0.0.1"], ...options });
  const redirectOf = (path: string) => fetch(server.url + path, { redirect: "manual" });
  /** Follows the way of a browser to the provider and back. */
  const goAndComeBack = async () => {
    const left = await redirectOf("/api/sign-in");
    const consent = await fetch(left.headers.get("location")!, { redirect: "manual" });
    const back = new URL(consent.headers.get("location")!);
    return { back, pending: cookieOf(left) };
  };
  const comeBack = ({ back, pending }: { readonly back: URL; readonly pending: string }) =>
    fetch(`${server.url}/api/sign-in/done${back.search}`, { redirect: "manual", headers: { cookie: pending } });
  return { ...server, provider, redirectOf, goAndComeBack, comeBack };
}

/** The first cookie that a reply sets, as it is sent back. */
function cookieOf(reply: Response): string {
  return reply.headers.getSetCookie()[0]!.split(";")[0]!;
}

describe("sign-in on the page", () => {
  test.each([undefined, "a-secret-of-the-client"])(
    "lets a person in who comes back (client secret: %s)",
    async (secret) => {
      const { as, json, send, redirectOf, goAndComeBack, comeBack, provider } = await withPage({}, secret);
      const refused = await send("GET", "/api/status");
      expect([refused.status, refused.headers.get("x-citewell-sign-in")]).toEqual([401, "api/sign-in"]);
      provider.claims = { sub: "ada" };
      const left = await redirectOf("/api/sign-in");
      expect(new URL(left.headers.get("location")!).searchParams.get("redirect_uri")).toBe(`${url}/api/sign-in/done`);
      expect(left.headers.getSetCookie()[0]).toMatch(
        /^citewell-sign-in=[\w.-]+; Path=\/help\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
      );
      const done = await comeBack(await goAndComeBack());
      expect([done.status, done.headers.get("location")]).toEqual([303, `${url}/`]);
      expect(done.headers.getSetCookie()[0]).toMatch(
        /^citewell=[\w.-]+; Path=\/help\/; Max-Age=28800; HttpOnly; SameSite=Strict; Secure$/,
      );
      const cookie = cookieOf(done);
      expect(Buffer.from(cookie, "base64url").toString()).not.toContain("ada");
      const ada = as({ cookie });
      const { id } = (await ada.events("/api/conversations", { question: "When do keys expire?" }))[0] as {
        id: string;
      };
      expect((await ada.json("GET", "/api/conversations")).conversations).toMatchObject([{ id }]);
      // The same person with a token finds the same conversations.
      const program = as({ authorization: `Bearer ${await provider.token()}` });
      expect((await program.json("GET", "/api/conversations")).conversations).toMatchObject([{ id }]);
      expect(await json("GET", "/api/conversations", undefined, 401)).toBeDefined();
    },
  );

  test("is begun and ended in one browser, once", async () => {
    const { as, goAndComeBack, comeBack } = await withPage();
    const [one, other] = [await goAndComeBack(), await goAndComeBack()];
    const statuses = async (back: URL, pending: string) => (await comeBack({ back, pending })).status;
    // A link with the code of an attacker's own account would sign its reader in as the attacker.
    expect(await statuses(one.back, other.pending)).toBe(401);
    expect(await statuses(one.back, "")).toBe(401);
    expect(await statuses(one.back, "citewell-sign-in=eyJhbGciOiJkaXIifQ....")).toBe(401);
    const withoutState = new URL(other.back);
    withoutState.searchParams.delete("state");
    expect(await statuses(withoutState, other.pending)).toBe(401);
    expect(await statuses(other.back, other.pending)).toBe(303);
    expect(await statuses(other.back, other.pending)).toBe(401);
    // A cookie for one purpose is no cookie for the other.
    const session = one.pending.replace("citewell-sign-in=", "citewell=");
    expect((await as({ cookie: session }).send("GET", "/api/status")).status).toBe(401);
  });

  test("goes where the server's own address is, whatever host a request claims", async () => {
    const { url: own } = await withPage({ trustProxy: 1, hosts: ["docs.example.com", "evil.example", "127.0.0.1"] });
    for (const headers of [
      { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" },
      { forwarded: "host=evil.example;proto=http" },
      { host: "evil.example" },
      { "x-original-url": "//evil.example/", "x-rewrite-url": "//evil.example/" },
    ] as Record<string, string>[]) {
      const reply = await rawGet(`${own}/api/sign-in?redirect_uri=https://evil.example&return=//evil.example`, headers);
      expect(reply.status).toBe(303);
      expect(new URL(reply.location).searchParams.get("redirect_uri")).toBe(`${url}/api/sign-in/done`);
      expect(reply.location).not.toContain("evil");
    }
  });

  test("of a person who belongs to no group is refused, and ends when a session is altered, old, or of another server", async () => {
    const entries: AuditEntry[] = [];
    const groups = { staff: {} };
    const { as, goAndComeBack, comeBack, provider } = await withPage({
      groups,
      audit: { to: (entry) => entries.push(entry) },
    });
    expect((await comeBack(await goAndComeBack())).status).toBe(403);
    provider.claims = { sub: "ada", groups: ["staff", ...Array.from({ length: 500 }, (_, at) => `a-long-name-${at}`)] };
    const done = await comeBack(await goAndComeBack());
    expect(done.status).toBe(303);
    const cookie = cookieOf(done);
    // Browsers drop cookies of more than 4,096 bytes.
    expect(cookie.length).toBeLessThan(1000);
    expect((await as({ cookie }).send("GET", "/api/status")).status).toBe(200);
    const altered = `${cookie.slice(0, -2)}${cookie.endsWith("AA") ? "BB" : "AA"}`;
    const refused = await as({ cookie: altered }).send("GET", "/api/status");
    expect([refused.status, refused.headers.get("set-cookie")]).toEqual([
      401,
      "citewell=; Path=/help/; HttpOnly; SameSite=Strict; Max-Age=0",
    ]);
    const elsewhere = await withPage();
    expect((await elsewhere.as({ cookie }).send("GET", "/api/status")).status).toBe(401);
    expect(entries.filter(({ event }) => event === "sign-in")).toMatchObject([{ caller: "user:ada" }]);
    expect(entries.filter(({ event }) => event === "refusal").map(({ code }) => code)).toContain("forbidden");
  });
});

/** Sends a request whose Host header is free, which `fetch` does not allow. */
async function rawGet(address: string, headers: Record<string, string>) {
  const { request } = await import("node:http");
  return new Promise<{ readonly status: number; readonly location: string }>((resolve, reject) => {
    const sent = request(address, { headers }, (reply) => {
      reply.resume();
      resolve({ status: reply.statusCode!, location: reply.headers.location ?? "" });
    });
    sent.on("error", reject).end();
  });
}
