import type { Store } from "../../core/ports.js";
import type { Conversations } from "./conversations.js";

/** A store that can keep conversations. */
export interface KeepsConversations {
  readonly conversations: () => Conversations;
}

export function keepsConversations(store: Store): store is Store & KeepsConversations {
  return "conversations" in store && typeof store.conversations === "function";
}
