import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import type { Filter } from "../../core/filter.js";
import { given } from "../../core/given.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { Metadata } from "../../core/types.js";
import { type Role, roles } from "../access.js";
import { seenFields } from "./groups.js";

/** Limits of one caller, in place of those of the server. */
export interface CallerLimits {
  /** Requests in a minute, 1 to 1,000,000; more get 429. Default: the server's. */
  readonly requestsPerMinute?: number;
  /** Tokens of the chat model in a minute, read and written, 1 or more. What the last answer took beyond it is waited for. Default: the server's. */
  readonly tokensPerMinute?: number;
  /** Answers at once, 1 to 100,000; more get 429. Default: the server's. */
  readonly answersAtOnce?: number;
}

/** @internal */
export const callerLimits = optionsOf<CallerLimits>()({
  requestsPerMinute: z.int().min(1).max(1_000_000).optional(),
  tokensPerMinute: z.int().min(1).optional(),
  answersAtOnce: z.int().min(1).max(100_000).optional(),
});

/** A key as it is kept: all but the key itself. */
export interface KeyRecord {
  /** Stands in the key, in the log, and as `key:…` as owner of its conversations. */
  readonly id: string;
  /** Name of whoever or whatever uses it. */
  readonly name: string;
  /** Digest that the key is recognised by. */
  readonly digest: string;
  /** Its holder may do this. */
  readonly role: Role;
  /** Documents that it sees. Default: all, unless it has groups. */
  readonly filter?: Filter;
  /** Put on every file that it uploads. */
  readonly metadata?: Metadata;
  /** Groups of the server whose documents it sees, in place of `filter` and `metadata`. */
  readonly groups?: readonly string[];
  /** In place of those of the server. */
  readonly limits?: CallerLimits;
  /** When it was made, in milliseconds since 1970. */
  readonly createdAtMs: number;
  /** From then on it is refused. Default: it does not expire. */
  readonly expiresAtMs?: number;
  /** Since then it is refused. */
  readonly revokedAtMs?: number;
}

/** Place where keys are kept. One of your own may be a table of a database. */
export interface KeyBook {
  /** All keys, also those that are revoked or have expired. */
  readonly list: () => Promise<readonly KeyRecord[]>;
  /**
   * The keys of some ids, where there may be many more: a server then reads those of its callers alone, a few at a time, and
   * `list` is for people. Default: a server reads all.
   */
  readonly find?: (ids: readonly string[]) => Promise<readonly KeyRecord[]>;
  /** Replaces the keys by what `change` makes of them, while nobody else can. */
  readonly change: (change: (keys: readonly KeyRecord[]) => readonly KeyRecord[]) => Promise<void>;
}

const keyRecord = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9]{12}$/),
    name: z.string().min(1),
    digest: z.string().regex(/^[\w-]{43}$/),
    role: z.enum(roles),
    ...seenFields,
    groups: z.exactOptional(z.array(z.string().min(1)).min(1)),
    limits: z.exactOptional(callerLimits),
    createdAtMs: z.int(),
    expiresAtMs: z.exactOptional(z.int()),
    revokedAtMs: z.exactOptional(z.int()),
  })
  .refine(({ filter, groups }) => filter === undefined || groups === undefined, "has both a filter and groups");

/** The records of keys. @internal */
export const keyRecords = z
  .array(keyRecord)
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, "has two keys of one id");

/**
 * The records that are read from a place.
 *
 * @throws OptionsError (`config`) where they are not as they were written.
 */
export function recordsOf(place: string, read: () => unknown): readonly KeyRecord[] {
  try {
    return resolve("keys", keyRecords, read() as never);
  } catch (cause) {
    const message = `The keys in ${place} are not as they were written, and nobody is let in by them: ${(cause as Error).message}`;
    throw new OptionsError("config", message, { cause });
  }
}

/** Options of `makeKey`. */
export interface NewKey {
  /** Name of whoever or whatever will use it, 1 to 200 characters. */
  readonly name: string;
  /** Default: `ask`. */
  readonly role?: Role;
  /** Documents that it sees. Default: all. */
  readonly filter?: Filter;
  /** Put on every file that it uploads, such as `{ tenant: "a" }`: values that `filter` lets through. Default: nothing. */
  readonly metadata?: Metadata;
  /** Groups of the server whose documents it sees, in place of `filter` and `metadata`. Default: none. */
  readonly groups?: readonly string[];
  /** Default: those of the server. */
  readonly limits?: CallerLimits;
  /** When it expires, in milliseconds since 1970. Default: never. */
  readonly expiresAtMs?: number;
}

/** A key with its secret. */
interface WrittenKey {
  readonly id: string;
  /** SHA-256 of the whole key; the page's cookie carries it. */
  readonly proof: Buffer;
}

const keyForm = /^cw_([a-z0-9]{12})_[\w-]{43}$/;
const cookieForm = /^([a-z0-9]{12})\.([\w-]{43})$/;

/** Whether a bearer token is meant as a key. */
export function isKey(text: string): boolean {
  return text.startsWith("cw_");
}

/** A key in its parts; `undefined` for a text that is none. */
export function readKey(text: string): WrittenKey | undefined {
  const id = keyForm.exec(text)?.[1];
  return id === undefined ? undefined : { id, proof: sha256(text) };
}

/** A key as the page's cookie has it: a proof of the key, from which the key cannot be read. */
export function readKeyCookie(text: string): WrittenKey | undefined {
  const [, id, proof] = cookieForm.exec(text) ?? [];
  return id === undefined || proof === undefined ? undefined : { id, proof: Buffer.from(proof, "base64url") };
}

export function keyCookie({ id, proof }: WrittenKey): string {
  return `${id}.${proof.toString("base64url")}`;
}

/** Whether the key is the one that the record was made for. */
export function isKeyOf({ proof }: WrittenKey, { digest }: KeyRecord): boolean {
  return timingSafeEqual(Buffer.from(digestOf(proof)), Buffer.from(digest));
}

/** Makes a key of 256 random bits, and its record. */
export function newKey(options: NewKey, nowMs: number): { readonly key: string; readonly record: KeyRecord } {
  const { name, role = "ask", filter, metadata, groups, limits, expiresAtMs } = options;
  const id = [...randomBytes(12)].map((byte) => (byte % 36).toString(36)).join("");
  const key = `cw_${id}_${randomBytes(32).toString("base64url")}`;
  const permissions = given({ filter, metadata, groups, limits, expiresAtMs });
  return { key, record: { id, name, digest: digestOf(sha256(key)), role, ...permissions, createdAtMs: nowMs } };
}

/**
 * SHA-256 without salt or stretching: those slow down guessing of secrets that people choose, and nobody guesses 256 random
 * bits. Every request is checked, so that a slow hash would be a way to keep the server busy. Twice, so that what is kept is
 * no cookie either.
 */
function digestOf(proof: Buffer): string {
  return createHash("sha256").update(proof).digest("base64url");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
