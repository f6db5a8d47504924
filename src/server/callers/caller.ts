import type { Access } from "../access.js";
import { Refusal } from "../guard/refusal.js";
import type { CallerLimits } from "./key.js";

/** The sender of a request, once let in. */
export interface Caller {
  readonly access: Access;
  /** Name in the audit log and for limits: `key:…`, `user:…`, or the owner that `access` says. Absent: one of many. */
  readonly name?: string;
  /** In place of the server's. */
  readonly limits?: CallerLimits;
}

/** A caller whose key or token does not hold. @param reason tells the holder only what it may know */
export function notAdmitted(reason: string, headers: Readonly<Record<string, string>> = {}): Refusal {
  return new Refusal(401, "unauthorized", reason, {
    "www-authenticate": 'Bearer error="invalid_token"',
    ...headers,
  });
}

/** A caller that is known, and sees nothing. */
export function seesNothing(): Refusal {
  return new Refusal(403, "forbidden", "You belong to no group that may see documents here");
}
