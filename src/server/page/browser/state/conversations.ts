import { signal } from "@preact/signals";
import type { WireConversation } from "../../../api/wire.js";
import type { Client } from "../api/client.js";

export type Conversations = ReturnType<typeof createConversations>;

/** The list of conversations, latest first. */
export function createConversations(client: Client) {
  const list = signal<readonly WireConversation[]>([]);
  return {
    list,
    /** Reads all pages of the list. */
    load: async () => {
      const all: WireConversation[] = [];
      for (let after: string | undefined; ;) {
        const { conversations, next } = await client.conversations(after);
        all.push(...conversations);
        if (next === undefined) break;
        after = next;
      }
      list.value = all;
    },
    /** Reads the first page again, where whatever was asked since stands; those behind it have not changed. */
    refresh: async () => {
      const { conversations, next } = await client.conversations();
      const read = new Set(conversations.map(({ id }) => id));
      const oldest = conversations.at(-1)?.updatedAtMs ?? 0;
      const behind = list.value.filter(({ id, updatedAtMs }) => !read.has(id) && updatedAtMs <= oldest);
      list.value = next === undefined ? conversations : [...conversations, ...behind];
    },
    rename: async (id: string, title: string) => {
      const renamed = await client.rename(id, title);
      list.value = list.value.map((conversation) => (conversation.id === id ? renamed : conversation));
    },
    remove: async (id: string) => {
      await client.deleteConversation(id);
      list.value = list.value.filter((conversation) => conversation.id !== id);
    },
  };
}
