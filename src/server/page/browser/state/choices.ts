import { signal } from "@preact/signals";
import type { WireStatus } from "../../../api/wire.js";
import type { Choices } from "../api/client.js";

const key = "citewell.answers";

/** Settings of answers, kept in this browser. */
export function createChoices() {
  const chosen = signal<Choices>(stored());
  return {
    chosen,
    choose: (next: Choices) => {
      chosen.value = next;
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // They hold until the page is closed.
      }
    },
  };
}

/** Those of the choices that the server takes, which may have changed since they were made; `undefined` when there are none. */
export function takenChoices(chosen: Choices, offered: WireStatus["choices"]): Choices | undefined {
  const { chatModels = [], maxPassages = 0, maxInstructionCharacters = 0 } = offered ?? {};
  const { chatModel, passages, instructions = "" } = chosen;
  const taken: Choices = {
    ...(chatModel !== undefined && chatModels.includes(chatModel) && { chatModel }),
    ...(passages !== undefined && passages <= maxPassages && { passages }),
    ...(instructions.trim() !== "" && instructions.length <= maxInstructionCharacters && { instructions }),
  };
  return Object.keys(taken).length === 0 ? undefined : taken;
}

function stored(): Choices {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    if (typeof value !== "object" || value === null) return {};
    const { chatModel, passages, instructions } = value as Readonly<Record<string, unknown>>;
    return {
      ...(typeof chatModel === "string" && { chatModel }),
      ...(typeof passages === "number" && Number.isInteger(passages) && passages > 0 && { passages }),
      ...(typeof instructions === "string" && { instructions }),
    };
  } catch {
    return {};
  }
}
