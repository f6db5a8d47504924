import type { Hono } from "hono";
import { fieldsOf } from "../api/request-fields.js";
import { type Asked, type Environment, incomingOf, publicPath, type Serve } from "../asked.js";
import { Refusal } from "../guard/refusal.js";
import type { AuditedDeed } from "../operations/audit.js";
import type { Admission } from "./admission.js";
import type { Caller } from "./caller.js";
import { type Going, signInPath } from "./page-sign-in.js";

interface SessionParts {
  readonly admission: Admission;
  readonly addressOf: (c: Asked) => string | undefined;
  readonly record: (c: Asked, deed: AuditedDeed, caller?: Caller) => void;
}

/** Sets the cookie that admits a browser which has sent a token or key, or whose person has signed in. */
export function mountSession(app: Hono<Environment>, on: Serve, { admission, addressOf, record }: SessionParts): void {
  on("POST", "/api/session", async (c) => {
    const { token: sent } = await fieldsOf(c.req, 10_000, incomingOf(c));
    if (typeof sent !== "string") throw new Refusal(400, "options", 'The body must be { "token": "…" }');
    const cookie = await admission.cookieFor(sent, addressOf(c));
    record(c, { event: "sign-in" });
    return c.body(null, 204, { "set-cookie": admission.cookie(cookie) });
  });
  on("DELETE", "/api/session", (c) => c.body(null, 204, { "set-cookie": admission.cookie(undefined) }));
  app.get("/", async (c, next) => {
    const sent = c.req.query("token");
    const cookie = sent === undefined ? undefined : await admission.cookieFor(sent, addressOf(c)).catch(unlessRefused);
    if (cookie === undefined) return next();
    // The redirect removes the token from the address bar and the history.
    return c.body(null, 303, {
      location: `${publicPath(c).replace(/\/$/, "")}/`,
      "set-cookie": admission.cookie(cookie),
    });
  });
  const { pageSignIn } = admission;
  if (!pageSignIn) return;
  on("GET", `/${signInPath}`, async () => redirected(await pageSignIn.begin()));
  on("GET", `/${signInPath}/done`, async (c) => {
    const going = await pageSignIn.finish(new URL(c.req.url).search, c.req.header("cookie") ?? "");
    record(c, { event: "sign-in" }, going.caller);
    return redirected(going);
  });
}

/** A wrong token in the page's address shows the page, which asks for one; too many are refused. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.status !== 401) throw error;
}

function redirected({ location, cookies }: Going): Response {
  const headers = new Headers({ location, "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}
