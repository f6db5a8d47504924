import { rmSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../core/errors.js";
import { asStoreError, type Database, isBusy, openPlainDatabase } from "../../sqlite/database.js";

/**
 * The exclusive right to write to a store. It is an open transaction on a small database file: the operating system ends
 * it with its process, however that ends, so no lock is ever stale. The file also names its holder, for the error message
 * of the next process that asks.
 */
export class WriteLock {
  readonly #path: string;
  #database: Database | undefined;

  constructor(folder: string) {
    this.#path = join(folder, "writer.lock");
  }

  get held(): boolean {
    return this.#database !== undefined;
  }

  /**
   * @param maxWaitMs how long to wait, without letting anything else on this thread run, while another one holds it.
   * @throws StoreError `locked`, with the process that holds it; `disk` when the file cannot be written.
   */
  take(maxWaitMs = 250): void {
    if (this.#database) return;
    try {
      this.#database = this.#lock(maxWaitMs);
    } catch (error) {
      if (!(error instanceof StoreError && error.code === "damaged")) throw error;
      // A crash tore the file while it was being written. It holds nothing but a process id for messages.
      rmSync(this.#path, { force: true });
      this.#database = this.#lock(maxWaitMs);
    }
  }

  #lock(maxWaitMs: number): Database {
    const database = openPlainDatabase(this.#path, maxWaitMs);
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
      throw new StoreError("locked", `${whoWrites(holder)} (${this.#path})`, { cause: error, path: this.#path });
    }
  }

  /** Takes the lock if it is free. Returns whether it is held now. */
  tryTake(): boolean {
    try {
      this.take();
      return true;
    } catch {
      return false;
    }
  }

  release(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}

function holderOf(database: Database): number | undefined {
  try {
    return database.prepare<[], { process: number }>("SELECT process FROM holder").get()?.process;
  } catch {
    return undefined;
  }
}

function whoWrites(holder: number | undefined): string {
  if (holder === process.pid) {
    return (
      "This process is writing to this store already, through another opening of it. Use one knowledge base or store for all " +
      "of it, or close the other one first; reading works meanwhile"
    );
  }
  const who = holder === undefined ? "Another process" : `Process ${holder}`;
  return `${who} is writing to this store. Wait until it is done, or stop it; reading works meanwhile`;
}
