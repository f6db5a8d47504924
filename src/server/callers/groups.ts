import { z } from "zod";
import { Filter } from "../../core/filter.js";
import { given } from "../../core/given.js";
import { callersNames, narrowingOption, optionsOf } from "../../core/options.js";
import type { Metadata } from "../../core/types.js";
import type { Access } from "../access.js";

/** Documents of the members of a group. */
export interface GroupAccess {
  /** The documents that they see. Default: all. */
  readonly filter?: Filter;
  /** Put on every file that a member of this group alone uploads: values that `filter` lets through. Default: nothing. */
  readonly metadata?: Metadata;
}

/** Fields that narrow what is seen. A value that was lost on the way is refused, and never taken for everything. @internal */
export const seenFields = {
  filter: narrowingOption(Filter as z.ZodType<Filter, Filter>),
  metadata: narrowingOption(z.record(z.string(), z.json()) as unknown as z.ZodType<Metadata, Metadata>),
};

/** @internal */
export const groupsOption = callersNames(z.record(z.string().min(1), optionsOf<GroupAccess>()(seenFields)));

/**
 * Members of several groups see the documents of all of them. Who belongs to several uploads without metadata, since nobody
 * can tell whose the file would be.
 *
 * @returns `undefined` for a member of none: nothing is seen.
 */
export function accessOfGroups(
  names: readonly string[],
  groups: Readonly<Record<string, GroupAccess>>,
): Pick<Access, "filter" | "metadata"> | undefined {
  const own = [...new Set(names)].flatMap((name) => (Object.hasOwn(groups, name) ? [groups[name]!] : []));
  const [first, ...others] = own;
  if (!first) return undefined;
  if (others.length === 0) return given({ filter: first.filter, metadata: first.metadata });
  const filters = own.flatMap(({ filter }) => filter ?? []);
  return filters.length < own.length ? {} : { filter: { any: filters } };
}
