import type { z } from "zod";
import { StoreError } from "../core/errors.js";
import { bothFilters, checkFilter, type Filter } from "../core/filter.js";
import { checkFields } from "./database/filter-fields.js";

export interface ScopeRulesOptions {
  /** Location of the store, for messages. */
  readonly location: string;
  /** Whether reading without a scope is refused. */
  readonly requireScope: boolean;
  readonly metadataSchema: z.ZodObject | undefined;
}

/** How scopes and filters restrict what is read: no caller can widen the scope. */
export class ScopeRules {
  readonly #options: ScopeRulesOptions;

  constructor(options: ScopeRulesOptions) {
    this.#options = options;
  }

  /** @throws OptionsError for an invalid filter, and for fields that documents cannot have. */
  checked(filter: unknown): Filter {
    const checked = checkFilter("filter", filter);
    const { metadataSchema } = this.#options;
    if (metadataSchema) checkFields(metadataSchema, checked);
    return checked;
  }

  /** The filter of a call and the filter of its scope, both of which must match. */
  effective(scope: Filter | undefined, filter: Filter | undefined): Filter | undefined {
    const { location, requireScope } = this.#options;
    if (scope === undefined && requireScope) {
      throw new StoreError(
        "scope",
        `The store at ${location} was opened with requireScope: search and read through store.scoped(filter)`,
        { path: location },
      );
    }
    return bothFilters(scope, filter === undefined ? undefined : this.checked(filter));
  }
}
