import { createHash, timingSafeEqual } from "node:crypto";
import { unauthorized } from "./refusal.js";

/** Lets pass who sends `Authorization: Bearer <apiKey>`; refuses all others with 401. */
export function checkAuthorization(header: string | undefined, apiKey: string): void {
  const token = /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1];
  if (token === undefined) throw unauthorized("missing");
  if (!timingSafeEqual(digest(token), digest(apiKey))) throw unauthorized("wrong");
}

/** Equal lengths for the comparison, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
