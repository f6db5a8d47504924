import { batch, computed, signal } from "@preact/signals";
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
    filter: computed((): DocumentFilter | undefined =>
      chosen.value.size === 0 ? undefined : { uri: { in: [...chosen.value] } },
    ),
    refresh: () => load(0),
    more: () => load(list.value.length),
    choose: (uri: string, isChosen: boolean) => {
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
