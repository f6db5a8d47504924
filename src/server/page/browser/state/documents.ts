import { batch, signal } from "@preact/signals";
import type { WireDocument } from "../../../api/wire.js";
import type { Client, DocumentFilter } from "../api/client.js";

const pageSize = 50;

export type Documents = ReturnType<typeof createDocuments>;

/** The collection's documents that match the search, and those that questions are limited to. */
export function createDocuments(client: Client) {
  const search = signal("");
  const list = signal<readonly WireDocument[]>([]);
  const total = signal(0);
  const chosen = signal<ReadonlySet<string>>(new Set());
  let latest = 0;
  /** Whether a question was asked within the chosen documents. */
  let isAskedWithin = false;

  const load = async (offset: number) => {
    const request = ++latest;
    const found = await client.documents(search.value.trim(), pageSize, offset);
    // A reply that was overtaken by a later search is outdated.
    if (request !== latest) return;
    batch(() => {
      list.value = offset === 0 ? found.documents : [...list.value, ...found.documents];
      total.value = found.total;
    });
  };

  return {
    search,
    list,
    total,
    chosen,
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
