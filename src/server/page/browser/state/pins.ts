import { signal } from "@preact/signals";

const key = "citewell.pinned";

/** The conversations that the reader has pinned, kept in this browser. */
export function createPins() {
  const pinned = signal<ReadonlySet<string>>(new Set(stored()));
  return {
    pinned,
    toggle: (id: string) => {
      const next = new Set(pinned.value);
      if (!next.delete(id)) next.add(id);
      pinned.value = next;
      try {
        localStorage.setItem(key, JSON.stringify([...next]));
      } catch {
        // They stay pinned until the page is closed.
      }
    },
  };
}

function stored(): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(value) ? value.filter((id): id is string => typeof id === "string") : [];
  } catch {
    return [];
  }
}
