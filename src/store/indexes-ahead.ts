import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Position } from "./changes.js";
import { unsealed } from "./sealed-json.js";

/**
 * Takes away saved indexes that have seen more than the store holds: its file was put back to an earlier state without
 * them. They are passed over when the store is opened. But the labels that they know are given out anew to other chunks, and
 * once the store has grown past them they would look like indexes of it. So they go before anything is written.
 */
export function removeIndexesAhead(folder: string, head: () => Position): void {
  for (const name of ["lexical", "graph"]) {
    const manifest = join(folder, `${name}.json`);
    const saved = positionIn(manifest);
    // The head is read last: an index that another process is saving was committed before.
    const { label, removal } = head();
    if (saved && (saved.label > label || saved.removal > removal)) rmSync(manifest, { force: true });
  }
}

/** Undefined where there is none, or one that will not be read either. */
function positionIn(manifest: string): Position | undefined {
  try {
    return (unsealed(readFileSync(manifest, "utf8")) as { readonly position?: Position }).position;
  } catch {
    return undefined;
  }
}
