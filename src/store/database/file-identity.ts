import { statSync } from "node:fs";
import { StoreError } from "../../core/errors.js";

/** Names the file at a path: another file of the same path has another name. `undefined` where there is none. */
export function fileIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/**
 * A deleted file lives on for a process that has it open, and is gone once that closes it: writes to it are lost.
 *
 * @throws StoreError `closed` when the file at the path is not the one that was opened.
 */
export function refuseLostFile(path: string, opened: string | undefined): void {
  const now = fileIdentity(path);
  if (now !== undefined && now === opened) return;
  const what = now === undefined ? "was deleted" : "was replaced by another file";
  throw new StoreError(
    "closed",
    `${path} ${what} since the store was opened, and nothing more is written to it. Close the store and open it again`,
    { path },
  );
}
