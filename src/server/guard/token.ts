import { createHash, timingSafeEqual } from "node:crypto";

/** Carries the token of who has opened the page. */
const cookieName = "citewell";

/** Whether a request carries the token, as a bearer token or in the page's cookie. */
export function hasToken(request: Request, token: string): boolean {
  const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (bearer !== undefined) return isToken(bearer, token);
  const cookies = (request.headers.get("cookie") ?? "").split(/; */);
  const cookie = cookies.find((each) => each.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1);
  return cookie !== undefined && isToken(cookie, digest(token).toString("base64url"));
}

/** Whether a text is the token. Takes the same time for every text. */
export function isToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

/**
 * The cookie that lets the page in: a digest, so that the token is not read from the browser's files, out of reach of
 * scripts, and never sent with a request from another site.
 *
 * @param path of the page and the API.
 */
export function sessionCookie(token: string | undefined, path: string): string {
  const value = token === undefined ? "" : digest(token).toString("base64url");
  const end = token === undefined ? "; Max-Age=0" : "";
  return `${cookieName}=${value}; Path=${path}; HttpOnly; SameSite=Strict${end}`;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
