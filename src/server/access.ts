import { z } from "zod";
import { OptionsError } from "../core/errors.js";
import { Filter } from "../core/filter.js";
import { isRecord, sortedJson } from "../core/json.js";
import { resolve, secret } from "../core/options.js";
import { hiddenFields } from "../core/json.js";
import type { Metadata } from "../core/types.js";
import { Refusal } from "./guard/refusal.js";

/** Roles from the least to the most powerful; each may do what those before it may. */
export const roles = ["ask", "add", "manage"] as const;

/**
 * - `ask`: searches, asks, reads the documents, and keeps its own conversations.
 * - `add`: uploads files, too, but none in the place of another.
 * - `manage`: also replaces and deletes documents, and approves calls of tools that write.
 */
export type Role = (typeof roles)[number];

/** Permissions of one request. */
export interface Access {
  /** The documents that it may search, read, ask about and delete. Default: all. */
  readonly filter?: Filter;
  /** Owner of the conversations that it lists, reads and continues. Conversations also belong to `filter`. Default: nobody. */
  readonly owner?: string;
  /**
   * Put on every file that it uploads, such as `{ tenant: "a" }`: values that `filter` lets through. With a `filter` and
   * without this, it uploads nothing.
   */
  readonly metadata?: Metadata;
  /** Default: `ask`. */
  readonly role?: Role;
}

/**
 * Returns the permissions of a request; `undefined` refuses with 401. The result is a plain object of the fields of `Access`
 * and no others, each with a value: whatever else it may be is refused with 500, and `onError` is told why, once. Throwing
 * refuses a request with 500, too. The caller is told nothing of either.
 */
export type AccessOf = (request: Request) => Access | undefined | Promise<Access | undefined>;

// Exactly optional throughout: a filter that turned out undefined would show every document. A secret, since a function that
// returns the wrong thing may return the caller's token.
const accessSchema = secret(
  z
    .unknown()
    .superRefine((given, context) => {
      const message = plainness(given);
      if (message !== undefined) context.addIssue({ code: "custom", message });
    })
    .pipe(
      z.strictObject({
        filter: z.exactOptional(Filter),
        owner: z.exactOptional(z.string().regex(/\S/, "must not be blank")),
        metadata: z.exactOptional(z.record(z.string(), z.json())),
        role: z.exactOptional(z.enum(roles)),
      }),
    ),
);

/** Explains why a value is no plain object in which each field has a value. */
function plainness(given: unknown): string | undefined {
  if (!isRecord(given)) return "must be an object such as { filter, owner }, or undefined to refuse the request";
  if (Object.getPrototypeOf(given) === null) {
    return "must be a plain object, and has no prototype: copy its fields into { … }";
  }
  const empty = Object.entries(Object.getOwnPropertyDescriptors(given)).find(([, { value }]) => value === undefined);
  if (empty) return `${JSON.stringify(empty[0])} must be left out or have a value that can be seen`;
  return hiddenFields(given);
}

/** A request for which `access` returned an invalid result. The reason has been logged. */
export class WrongAccess extends Refusal {
  constructor() {
    super(500, "internal", "The server failed to answer. Its log says why");
  }
}

/** Maximum number of mistakes that are reported, so that names in messages cannot fill the log. */
const maxTold = 20;

/** Checks the results of an `access` function. Each mistake is reported once, since every request would repeat it. */
export class CheckedAccess {
  readonly #accessOf: AccessOf;
  readonly #onError: (error: unknown) => void;
  readonly #told = new Set<string>();

  /** @param onError Default: a warning of the process, since nobody would learn why all requests fail. */
  constructor(accessOf: AccessOf, onError: ((error: unknown) => void) | undefined) {
    this.#accessOf = accessOf;
    this.#onError = onError ?? ((error) => process.emitWarning(error as Error));
  }

  /** @throws WrongAccess for an invalid result. */
  async of(request: Request): Promise<Access | undefined> {
    const given: unknown = await this.#accessOf(request);
    if (given === undefined) return undefined;
    try {
      return resolve("access", accessSchema, given);
    } catch (error) {
      if (!(error instanceof OptionsError)) throw error;
      this.#tell(error);
      throw new WrongAccess();
    }
  }

  #tell(error: OptionsError): void {
    if (this.#told.size >= maxTold || this.#told.has(error.message)) return;
    this.#told.add(error.message);
    this.#onError(error);
  }
}

/** Whether the caller has at least this role. */
export function hasRole({ role = "ask" }: Access, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** A name for what a request may see, which requests share only if they may see the same. */
export function accessName({ filter, owner, metadata }: Access): string {
  return sortedJson([filter, owner, metadata].map((part) => part ?? null));
}
