import { createHash, timingSafeEqual } from "node:crypto";

/** Cookie of a reader who has signed in on the page. */
export const cookieName = "citewell";

/** The token that a request carries: a bearer token, or the page's cookie. */
export interface SentToken {
  readonly text: string;
  readonly isCookie: boolean;
}

/** The token that a request carries, right or wrong; undefined for a request without one. */
export function sentToken({ headers }: Request): SentToken | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (bearer !== undefined) return { text: bearer, isCookie: false };
  const cookies = (headers.get("cookie") ?? "").split(/; */);
  const cookie = cookies.find((cooky) => cooky.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1);
  return cookie === undefined || cookie === "" ? undefined : { text: cookie, isCookie: true };
}

/** Whether a sent token is the right one. Takes the same time for every text. */
export function isRightToken({ text, isCookie }: SentToken, token: string): boolean {
  return isToken(text, isCookie ? tokenCookie(token) : token);
}

/** Whether a text is the token. Takes the same time for every text. */
export function isToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

/** The page's cookie holds this in place of a token: a digest, so that the token is not read from the browser's files. */
export function tokenCookie(token: string): string {
  return digest(token).toString("base64url");
}

/**
 * The cookie that lets the page in, out of reach of scripts, and never sent with a request from another site.
 *
 * @param value Without one the cookie is deleted.
 * @param path of the page and the API.
 */
export function sessionCookie(value: string | undefined, path: string): string {
  const end = value === undefined ? "; Max-Age=0" : "";
  return `${cookieName}=${value ?? ""}; Path=${path}; HttpOnly; SameSite=Strict${end}`;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
