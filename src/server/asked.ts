import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import type { NodeRequest } from "./api/request-fields.js";
import type { Caller } from "./callers/caller.js";

export type Environment = { readonly Variables: { readonly caller?: Caller } };

/** A request as the routes get it. */
export type Asked = Context<Environment>;

/** Serves a path by one method. */
export type Serve = (method: string, path: string, serve: (c: Asked) => Response | Promise<Response>) => void;

/** Hono's server for Node.js passes this beside a request. */
export interface NodeEnvironment {
  readonly outgoing: ServerResponse;
}

/** The request of Node.js, where the server is one of Node.js. */
export function incomingOf(c: Asked): NodeRequest | undefined {
  return (c.env as { readonly incoming?: NodeRequest } | undefined)?.incoming;
}

/**
 * The path with the prefix that the handler is mounted at, which Express, Hono's `mount` and many proxies cut off. A page is
 * found with the slash at the end of its address and without it.
 */
export function wholePath(path: string, basePath: string): string {
  const isWhole = path === basePath || path.startsWith(`${basePath}/`);
  const whole = isWhole ? path : basePath + path;
  return whole.length > 1 && whole.endsWith("/") ? whole.slice(0, -1) : whole;
}

/** The path as the browser has it. Express keeps it when it cuts a prefix off. */
export function publicPath(c: Asked): string {
  const original = incomingOf(c)?.originalUrl;
  const path = typeof original === "string" ? original.replace(/\?.*$/s, "") : new URL(c.req.url).pathname;
  // A location that begins with two slashes or backslashes would name another server.
  return path.replace(/^[/\\]+/, "/");
}

export function mountHint(c: Asked, basePath: string): string {
  const shown = publicPath(c);
  const asked = shown === c.req.path ? "" : ` (asked for as ${shown})`;
  const where = basePath === "" ? "at the root; mounted elsewhere, it needs basePath" : `below ${basePath}`;
  return `This handler serves ${where}${asked}: its API is described at ${basePath}/api/openapi.json`;
}
