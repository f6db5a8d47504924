import { Refusal } from "../guard/refusal.js";
import type { RouteContext } from "./route.js";

/**
 * Records the decisions. Only calls of tools that write wait for approval, so that allowing one is writing. Everybody may refuse them.
 *
 * @throws Refusal (403) when the caller allows one and may not write.
 */
export function checkApprovals(
  approvals: Readonly<Record<string, boolean>>,
  conversation: string,
  { access, approvesWrites, audit }: Pick<RouteContext, "access" | "approvesWrites" | "audit">,
): void {
  if (approvesWrites(access) || !Object.values(approvals).includes(true)) {
    return audit({ event: "approval", conversation, approvals });
  }
  throw new Refusal(
    403,
    "forbidden",
    "These calls change something, and you may not write: refuse them, or let somebody decide who may",
  );
}
