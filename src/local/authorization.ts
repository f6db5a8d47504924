import { createHash, timingSafeEqual } from "node:crypto";
import { unauthorized } from "./failure/refusal.js";

/** The key of who sends `Authorization: Bearer <key>` with one of the keys; refuses all others with 401. */
export function authorizedKey(header: string | undefined, apiKeys: readonly string[]): string {
  const token = /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1];
  if (token === undefined) throw unauthorized("missing");
  const found = apiKeys.find((key) => timingSafeEqual(digest(token), digest(key)));
  if (found === undefined) throw unauthorized("wrong");
  return found;
}

/** Equal lengths for the comparison, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
