import { setTimeout as sleep } from "node:timers/promises";
import { given } from "../../core/given.js";
import { WrongAccess } from "../access.js";
import { type Caller, notAdmitted, seesNothing } from "./caller.js";
import { FoundKeys } from "./found-keys.js";
import { accessOfGroups, type GroupAccess } from "./groups.js";
import { isKeyOf, type KeyBook, type KeyRecord, readKey, readKeyCookie } from "./key.js";

/** Time for which keys are used as they were read: a revoked one is refused so soon after. */
const freshMs = 1000;

/** Time between two readings for unknown keys, which may be new ones: anybody can send what looks like a key. */
const unknownMs = 100;

export interface KeysSettings {
  readonly book: KeyBook;
  readonly groups: Readonly<Record<string, GroupAccess>>;
  readonly onError: ((error: unknown) => void) | undefined;
}

/** Callers by their keys. Guessing is not slowed down, since it would take longer than the sun lasts. */
export class Keys {
  readonly #settings: KeysSettings;
  /** Absent: all keys are read. */
  readonly #found: FoundKeys | undefined;
  #read: { readonly atMs: number; readonly keys: Promise<ReadonlyMap<string, KeyRecord>> } | undefined;

  constructor(settings: KeysSettings) {
    this.#settings = settings;
    const { book } = settings;
    this.#found = book.find && new FoundKeys((ids) => book.find!(ids), freshMs);
  }

  /**
   * @param text the key, or the page's cookie.
   * @throws Refusal (401) for a key that is unknown, revoked or expired, (403) for one that sees nothing, and (500) when the
   *   keys cannot be read.
   */
  async callerOf(text: string, isCookie: boolean): Promise<Caller> {
    const key = isCookie ? readKeyCookie(text) : readKey(text);
    const record = key && (await this.#recordOf(key.id));
    if (!key || !record || !isKeyOf(key, record)) throw notAdmitted("This key is not known here");
    const { id, role, filter, metadata, groups, limits, expiresAtMs = Infinity, revokedAtMs } = record;
    if (revokedAtMs !== undefined) throw notAdmitted("This key was revoked");
    if (expiresAtMs <= Date.now()) throw notAdmitted(`This key expired on ${new Date(expiresAtMs).toISOString()}`);
    const name = `key:${id}`;
    const seen = groups ? accessOfGroups(groups, this.#settings.groups) : given({ filter, metadata });
    if (!seen) throw seesNothing();
    return { access: { ...seen, owner: name, role }, name, ...given({ limits }) };
  }

  async #recordOf(id: string): Promise<KeyRecord | undefined> {
    if (!this.#found) return (await this.#keys(freshMs)).get(id) ?? (await this.#newKeys()).get(id);
    try {
      return await this.#found.get(id);
    } catch (error) {
      this.#settings.onError?.(error);
      throw new WrongAccess();
    }
  }

  /** The keys as they are read after this call, by one reading for all who ask in the same moment. */
  async #newKeys(): Promise<ReadonlyMap<string, KeyRecord>> {
    const known = this.#read;
    await sleep(Math.max(0, (known?.atMs ?? 0) + unknownMs - performance.now()));
    return this.#keys(this.#read === known ? 0 : freshMs);
  }

  async #keys(maxAgeMs: number): Promise<ReadonlyMap<string, KeyRecord>> {
    const atMs = performance.now();
    if (!this.#read || atMs - this.#read.atMs > maxAgeMs) {
      const keys = this.#settings.book.list().then((all) => new Map(all.map((record) => [record.id, record])));
      this.#read = { atMs, keys };
      // Told once for all requests that wait for this reading.
      keys.catch((error: unknown) => this.#settings.onError?.(error));
    }
    return this.#read.keys.catch(() => {
      throw new WrongAccess();
    });
  }
}
