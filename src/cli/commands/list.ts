import type { StoredDocumentInfo } from "../../core/ports.js";
import { print, withKnowledgeBase, type CommandIo, type StoreFlags } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { count } from "../output/figures.js";
import { displayUri, oneLine, type KnownFolders } from "../output/terminal-text.js";
import { addressOf, isSource } from "../settings/place-address.js";

export interface ListFlags extends StoreFlags {
  readonly source?: string;
}

/** Longest title, in characters. Addresses are never cut, because people copy them. */
const maxTitle = 50;

export async function listCommand(io: CommandIo, flags: ListFlags): Promise<number> {
  const { source: place } = flags;
  const stored = await withKnowledgeBase(io, flags, false, (kb) => kb.documents());
  const address = place === undefined ? undefined : addressOf(place, io.directory);
  const listed = address === undefined ? stored : stored.filter(({ source }) => isSource(source, address));
  const none =
    place === undefined ? "The store holds no documents.\n" : `No document in the store came from ${place}.\n`;
  print(io, flags, listed.map(asJson), listed.length === 0 ? none : describe(listed, io));
  return exitCodes.done;
}

function asJson({ uri, title, chunks, source }: StoredDocumentInfo): object {
  return { uri, title, chunks, source };
}

function describe(documents: readonly StoredDocumentInfo[], folders: KnownFolders): string {
  const rows = documents.map(({ uri, title = "", chunks, source }) => [
    count(chunks),
    displayUri(uri, folders),
    source === undefined ? "" : displayUri(source, folders),
    oneLine(title, maxTitle),
  ]);
  const table = [["Chunks", "Document", "Source", "Title"], ...rows];
  const widths = table[0]!.map((_, column) => table.reduce((most, row) => Math.max(most, row[column]!.length), 0));
  const lines = table.map((row) => {
    const cells = row.map((cell, column) => (column === 0 ? cell.padStart(widths[0]!) : cell.padEnd(widths[column]!)));
    return `${cells.join("  ").trimEnd()}\n`;
  });
  return lines.join("");
}
