import { OptionsError } from "../../core/errors.js";
import { isWebAddress } from "../../load/web/web-address.js";
import type { StoredDocumentInfo } from "../../core/ports.js";
import { print, withKnowledgeBase, type StoreFlags, type CommandIo } from "../command-context.js";
import { counted } from "../output/figures.js";
import { exitCodes } from "../output/failure.js";
import { addressOf, isSource } from "../settings/place-address.js";

/** Removes documents from the store by where they came from. The files and folders need not exist any more. */
export async function removeCommand(io: CommandIo, places: readonly string[], flags: StoreFlags): Promise<number> {
  const removed = await withKnowledgeBase(io, flags, false, async ({ store }) => {
    const stored = await store.documents();
    const found = places.flatMap((place) => {
      const uris = stored.filter(isFrom(addressOf(place, io.directory))).map(({ uri }) => uri);
      if (uris.length > 0) return uris;
      throw new OptionsError(
        "options",
        `No document in the store came from ${place}, so nothing was removed. Name a file, folder or address that was indexed`,
      );
    });
    io.signal.throwIfAborted();
    return store.deleteDocuments([...new Set(found)]);
  });
  const { documents, chunks } = removed;
  const text =
    `Removed ${counted(documents, "document")} with ${counted(chunks, "chunk")} from the store; the files themselves are untouched.\n` +
    "Their vectors are kept, so that indexing them again costs nothing; citewell verify --repair --drop-unused drops them.\n";
  print(io, flags, { documents: { deleted: documents }, chunks: { deleted: chunks } }, text);
  return exitCodes.done;
}

/**
 * Whether a document is this file or page, a row of it, below this folder, or read from this source. Pages below a web
 * address belong to it only if the address ends with a slash.
 */
function isFrom(address: string): (document: StoredDocumentInfo) => boolean {
  const folder = address.endsWith("/") ? address : `${address}/`;
  const below = isWebAddress(address) ? address.endsWith("/") : true;
  return ({ uri, source }) =>
    uri === address || uri.startsWith(`${address}#`) || (below && uri.startsWith(folder)) || isSource(source, address);
}
