import { batch, computed, signal } from "@preact/signals";
import type { WireDocument } from "../../../api/wire.js";
import type { Client, DocumentChoice, DocumentFilter, ListedDocuments } from "../api/client.js";

const pageSize = 50;
/** Folders and kinds are counted by reading all documents, so that more are listed without. */
const maxFaceted = 20_000;

type Folder = NonNullable<ListedDocuments["folders"]>[number];

export type Documents = ReturnType<typeof createDocuments>;

/** The collection's documents that match the search, and those that questions are limited to. */
export function createDocuments(client: Client) {
  const search = signal("");
  const list = signal<readonly WireDocument[]>([]);
  const total = signal(0);
  const chosen = signal<ReadonlySet<string>>(new Set());
  const kind = signal<string | undefined>(undefined);
  const sort = signal<NonNullable<DocumentChoice["sort"]>>("address");
  /** The folders that were entered, outermost first. */
  const path = signal<readonly Folder[]>([]);
  const folder = computed(() => path.value.at(-1)?.address);
  const folders = signal<readonly Folder[]>([]);
  const kinds = signal<NonNullable<ListedDocuments["kinds"]>>([]);
  let isFaceted = false;
  let latest = 0;
  /** Whether a question was asked within the chosen documents. */
  let isAskedWithin = false;

  const load = async (offset: number) => {
    const request = ++latest;
    const choice: DocumentChoice = {
      ...(folder.value !== undefined && { folder: folder.value }),
      ...(kind.value !== undefined && { kind: kind.value }),
      sort: sort.value,
      ...(isFaceted && offset === 0 && total.value <= maxFaceted && { facets: "true" }),
    };
    const found = await client.documents(search.value.trim(), pageSize, offset, choice);
    // A reply that was overtaken by a later search is outdated.
    if (request !== latest) return;
    batch(() => {
      list.value = offset === 0 ? found.documents : [...list.value, ...found.documents];
      total.value = found.total;
      if (found.folders) folders.value = found.folders;
      if (found.kinds) kinds.value = found.kinds;
    });
  };

  return {
    search,
    list,
    total,
    chosen,
    folder,
    folders,
    folderNames: computed(() => path.value.map(({ name }) => name)),
    kind,
    kinds,
    sort,
    enterFolder: (to: Folder) => {
      path.value = [...path.value, to];
    },
    leaveFolder: () => {
      path.value = path.value.slice(0, -1);
    },
    /** Lists folders and kinds, too, from now on. */
    showFacets: () => {
      if (isFaceted) return Promise.resolve();
      isFaceted = true;
      return load(0);
    },
    /** Chooses all documents that are listed so far. */
    chooseListed: () => {
      isAskedWithin = false;
      chosen.value = new Set([...chosen.value, ...list.value.map(({ uri }) => uri)]);
    },
    /** Limits a question to the chosen documents, if there are any. */
    filter: (): DocumentFilter | undefined => {
      if (chosen.value.size === 0) return undefined;
      isAskedWithin = true;
      return { uri: { in: [...chosen.value] } };
    },
    /** Ends the choice with the conversation in which it was asked within. */
    leaveConversation: () => {
      if (isAskedWithin) chosen.value = new Set();
      isAskedWithin = false;
    },
    /** Asks within the documents of a new file, too, where only chosen ones are asked. */
    include: async (source: string) => {
      if (chosen.value.size === 0) return;
      const { documents } = await client.documents(source, 100, 0);
      const added = documents.map(({ uri }) => uri).filter((uri) => uri.startsWith(source));
      chosen.value = new Set([...chosen.value, ...added]);
    },
    /** Forgets the documents of a file that is gone. */
    exclude: (source: string) => {
      chosen.value = new Set([...chosen.value].filter((uri) => !uri.startsWith(source)));
    },
    refresh: () => load(0),
    more: () => load(list.value.length),
    choose: (uri: string, isChosen: boolean) => {
      isAskedWithin = false;
      const next = new Set(chosen.value);
      if (isChosen) next.add(uri);
      else next.delete(uri);
      chosen.value = next;
    },
    chooseAll: () => {
      chosen.value = new Set();
    },
    remove: async (uri: string) => {
      await client.deleteDocument(uri);
      batch(() => {
        list.value = list.value.filter((document) => document.uri !== uri);
        total.value -= 1;
        chosen.value = new Set([...chosen.value].filter((each) => each !== uri));
      });
    },
  };
}
