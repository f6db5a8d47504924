import type { WireConversation } from "../../../api/wire.js";

export type ConversationAge = "pinned" | "today" | "yesterday" | "week" | "older";

export interface ConversationGroup {
  readonly age: ConversationAge;
  readonly conversations: readonly WireConversation[];
}

const ages: readonly ConversationAge[] = ["pinned", "today", "yesterday", "week", "older"];

/** Conversations by the reader's own calendar days, pinned ones first. Each group keeps the order of the list. */
export function groupConversations(
  conversations: readonly WireConversation[],
  pinned: ReadonlySet<string>,
  now: Date,
): readonly ConversationGroup[] {
  const ageOf = ({ id, updatedAtMs }: WireConversation): ConversationAge => {
    if (pinned.has(id)) return "pinned";
    const days = daysBetween(new Date(updatedAtMs), now);
    if (days <= 0) return "today";
    return days === 1 ? "yesterday" : days < 7 ? "week" : "older";
  };
  const groups = grouped(conversations, ageOf);
  return ages.flatMap((age) => {
    const found = groups.get(age);
    return found ? [{ age, conversations: found }] : [];
  });
}

/** Calendar days, whatever the clock did in between. */
function daysBetween(earlier: Date, later: Date): number {
  const day = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000;
  return day(later) - day(earlier);
}

function grouped<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}
