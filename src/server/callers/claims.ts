import { type Role, roles } from "../access.js";
import { isRecord } from "../../core/json.js";
import { type Caller, seesNothing } from "./caller.js";
import { accessOfGroups, type GroupAccess } from "./groups.js";
import type { ResolvedOpenIdOptions } from "./open-id-options.js";

/** A person, as far as the server knows one: what a session keeps of the claims. */
export interface Person {
  /** Subject: the provider's id, which never goes to another person. */
  readonly subject: string;
  readonly role: Role;
  /** Those of the person's groups that the server knows. */
  readonly groups: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

/** Reads a person out of verified claims. Pure. */
export function personOf(
  claims: Claims,
  { rolesClaim, roles: ours, groupsClaim }: Pick<ResolvedOpenIdOptions, "rolesClaim" | "roles" | "groupsClaim">,
  groups: Readonly<Record<string, GroupAccess>> = {},
): Person {
  const held = textsAt(claims, rolesClaim).flatMap((name) => (Object.hasOwn(ours, name) ? [ours[name]!] : []));
  return {
    subject: String(claims["sub"]),
    role: roles.findLast((role) => held.includes(role)) ?? "ask",
    groups: textsAt(claims, groupsClaim).filter((name) => Object.hasOwn(groups, name)),
  };
}

/** @throws Refusal (403) for a person who belongs to none of the groups, where there are some. */
export function callerOf(
  { subject, role, groups: own }: Person,
  groups: Readonly<Record<string, GroupAccess>> | undefined,
): Caller {
  const seen = groups ? accessOfGroups(own, groups) : {};
  if (!seen) throw seesNothing();
  const name = `user:${subject}`;
  return { access: { ...seen, owner: name, role }, name };
}

/** The texts of a claim, by its name, which may be an address, or by a path such as `realm_access.roles`. */
function textsAt(claims: Claims, path: string): string[] {
  const value = Object.hasOwn(claims, path) ? claims[path] : at(claims, path.split("."));
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((item) => typeof item === "string");
}

function at(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return value;
  return isRecord(value) && Object.hasOwn(value, first) ? at(value[first], rest) : undefined;
}
