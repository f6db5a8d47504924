import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { OptionsError } from "../errors.js";
import { realPath } from "../load/real-path.js";
import { isWebAddress, webAddress } from "../load/web/web-address.js";
import type { StoredDocumentInfo } from "../ports.js";
import { withKnowledgeBase, type StoreFlags, type World } from "./command-context.js";
import { counted } from "./counted.js";
import { exitCodes } from "./failure.js";

/** Takes documents out of the store by where they came from: also of folders and files that are no longer there. */
export async function removeCommand(world: World, places: readonly string[], flags: StoreFlags): Promise<number> {
  const removed = await withKnowledgeBase(world, flags, false, async ({ store }) => {
    const stored = await store.documents();
    const found = places.flatMap((place) => {
      const uris = stored.filter(isFrom(addressOf(place, world.directory))).map(({ uri }) => uri);
      if (uris.length > 0) return uris;
      throw new OptionsError(
        "options",
        `No document in the store came from ${place}, so nothing was removed. Name a file, a folder or an address as it was indexed`,
      );
    });
    world.signal.throwIfAborted();
    return store.deleteDocuments([...new Set(found)]);
  });
  const { documents, chunks } = removed;
  world.stdout.write(
    flags.json
      ? `${JSON.stringify({ documents: { deleted: documents }, chunks: { deleted: chunks } })}\n`
      : `Removed ${counted(documents, "document")} with ${counted(chunks, "chunk")} from the store; files stay as they are.\n` +
          "Their vectors are kept, so that indexing them again costs nothing: citewell verify --repair --drop-unused drops them.\n",
  );
  return exitCodes.done;
}

/** The URI under which what is at a place was stored. */
function addressOf(place: string, directory: string): string {
  if (isWebAddress(place)) return webAddress(place);
  return pathToFileURL(formerPath(resolve(directory, place))).href;
}

/** The one true name that a path had while it was there: links on the way to it are followed as far as it is there. */
function formerPath(path: string): string {
  return existsSync(path) || dirname(path) === path ? realPath(path) : join(formerPath(dirname(path)), basename(path));
}

/**
 * Whether a document is this file or page, a row of it, below this folder, or was read from this source. Pages below a page
 * are its own only where its address ends with a slash.
 */
function isFrom(address: string): (document: StoredDocumentInfo) => boolean {
  const folder = address.endsWith("/") ? address : `${address}/`;
  const below = isWebAddress(address) ? address.endsWith("/") : true;
  return ({ uri, source }) =>
    uri === address ||
    uri.startsWith(`${address}#`) ||
    (below && uri.startsWith(folder)) ||
    source === address ||
    source === folder;
}
