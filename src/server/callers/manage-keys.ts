import { z } from "zod";
import { checkPort } from "../../core/check-port.js";
import { OptionsError } from "../../core/errors.js";
import { listOption, narrowingOption, optionsOf, resolve } from "../../core/options.js";
import { roles } from "../access.js";
import { seenFields } from "./groups.js";
import { callerLimits, type KeyBook, type KeyRecord, newKey, type NewKey } from "./key.js";

/** A key as lists show it: without the digest. */
export type KeyInfo = Omit<KeyRecord, "digest">;

const newKeyOptions = optionsOf<NewKey>()({
  name: z.string().regex(/\S/, "must not be blank").max(200),
  role: z.enum(roles).default("ask"),
  ...seenFields,
  groups: narrowingOption(listOption(z.array(z.string().min(1)).min(1))),
  limits: callerLimits.optional(),
  expiresAtMs: z.int().optional(),
});

/**
 * Makes a key, which is shown this once: only a digest of it is kept.
 *
 * @throws OptionsError for bad options: a key has a filter or groups, and expires in the future.
 * @example
 * ```ts
 * import { keyFile, makeKey } from "citewell/server";
 * const filter = { metadata: { tenant: "north" } };
 * const { key, info } = await makeKey(keyFile("./keys.json"), { name: "Help desk", role: "add", filter });
 * ```
 */
export async function makeKey(
  book: KeyBook,
  options: NewKey,
): Promise<{
  /** To be sent as `Authorization: Bearer …`. */
  readonly key: string;
  /** Its record. */
  readonly info: KeyInfo;
}> {
  checkPort("makeKey", "keys", book);
  const settings = resolve("makeKey", newKeyOptions, options);
  const nowMs = Date.now();
  if (settings.groups && (settings.filter ?? settings.metadata)) {
    throw new OptionsError("options", "groups say what a key sees: leave out filter and metadata, or groups", {
      call: "makeKey",
    });
  }
  if ((settings.expiresAtMs ?? Infinity) <= nowMs) {
    throw new OptionsError("options", "expiresAtMs lies in the past", { call: "makeKey", option: "expiresAtMs" });
  }
  const { key, record } = newKey(settings, nowMs);
  await book.change((keys) => [...keys, record]);
  return { key, info: infoOf(record) };
}

/**
 * The keys, the newest last, also those that hold no longer.
 *
 * @example
 * ```ts
 * import { keyFile, listKeys } from "citewell/server";
 * for (const { id, name, role } of await listKeys(keyFile("./keys.json"))) console.log(id, name, role);
 * ```
 */
export async function listKeys(book: KeyBook): Promise<KeyInfo[]> {
  checkPort("listKeys", "keys", book);
  return (await book.list()).map(infoOf).toSorted((one, other) => one.createdAtMs - other.createdAtMs);
}

/**
 * Revokes a key: servers refuse it within seconds. It stays in the list.
 *
 * @param id of the key, as `listKeys` has it; the beginning of one is enough where no other begins so.
 * @throws OptionsError when there is no such key.
 * @example
 * ```ts
 * import { keyFile, revokeKey } from "citewell/server";
 * await revokeKey(keyFile("./keys.json"), "k3f9");
 * ```
 */
export async function revokeKey(book: KeyBook, id: string): Promise<KeyInfo> {
  checkPort("revokeKey", "keys", book);
  let revoked: KeyRecord | undefined;
  await book.change((keys) => {
    const found = id === "" ? [] : keys.filter((key) => key.id.startsWith(id));
    const [key] = found;
    if (!key || found.length > 1) {
      const problem = key ? `${found.length} keys have an id that begins with` : "There is no key with the id";
      throw new OptionsError("options", `${problem} ${JSON.stringify(id)}`, { call: "revokeKey" });
    }
    const changed = { ...key, revokedAtMs: key.revokedAtMs ?? Date.now() };
    revoked = changed;
    return keys.map((each) => (each === key ? changed : each));
  });
  return infoOf(revoked!);
}

function infoOf(record: KeyRecord): KeyInfo {
  const { digest: _, ...info } = record;
  return info;
}
