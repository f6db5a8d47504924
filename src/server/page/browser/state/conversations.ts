import { signal } from "@preact/signals";
import type { WireConversation } from "../../../api/wire.js";
import type { Client } from "../api/client.js";

export type Conversations = ReturnType<typeof createConversations>;

/** The list of conversations, latest first. */
export function createConversations(client: Client) {
  const list = signal<readonly WireConversation[]>([]);
  return {
    list,
    refresh: async () => {
      const conversations = await client.conversations();
      list.value = conversations.toSorted((a, b) => b.updatedAtMs - a.updatedAtMs);
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
