import { rmSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../errors.js";
import { asStoreError, type Database, isBusy, openPlainDatabase } from "../sqlite/database.js";

/**
 * The right to write to a store, held by at most one `Store` at a time. It is an open transaction on a database file of
 * its own: the operating system gives it back when its process ends, however it ends, so there is no stale lock to
 * recognise. Beside it stands who holds it, for the message of whoever comes second.
 */
export class WriteLock {
  readonly #path: string;
  #held: Database | undefined;

  constructor(folder: string) {
    this.#path = join(folder, "writer.lock");
  }

  get held(): boolean {
    return this.#held !== undefined;
  }

  /** @throws StoreError `locked`, with the process that holds it; `disk` where the file cannot be written. */
  take(): void {
    if (this.#held) return;
    try {
      this.#held = this.#taken();
    } catch (error) {
      if (!(error instanceof StoreError && error.code === "damaged")) throw error;
      // Torn when a process or the machine went down in the midst of writing it. All that it holds is a number for a
      // message, so it is not the store that has to be restored.
      rmSync(this.#path, { force: true });
      this.#held = this.#taken();
    }
  }

  #taken(): Database {
    const database = openPlainDatabase(this.#path, 250);
    try {
      database.exec(
        "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS holder (process INTEGER NOT NULL); DELETE FROM holder",
      );
      database.prepare("INSERT INTO holder (process) VALUES (?)").run(process.pid);
      database.exec("COMMIT; BEGIN IMMEDIATE");
      return database;
    } catch (error) {
      const holder = isBusy(error) ? holderOf(database) : undefined;
      database.close();
      if (!isBusy(error)) throw asStoreError(this.#path, error);
      throw new StoreError(
        "locked",
        `${holder === undefined ? "Another process" : `Process ${holder}`} is writing to this store (${this.#path}). Wait until it is done, or stop it; reading works meanwhile`,
        { cause: error, path: this.#path },
      );
    }
  }

  /** Takes it if it is free; says whether it is held now. */
  tryTake(): boolean {
    try {
      this.take();
      return true;
    } catch {
      return false;
    }
  }

  release(): void {
    this.#held?.close();
    this.#held = undefined;
  }
}

function holderOf(database: Database): number | undefined {
  try {
    return database.prepare<[], { process: number }>("SELECT process FROM holder").get()?.process;
  } catch {
    return undefined;
  }
}
