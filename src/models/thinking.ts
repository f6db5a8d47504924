import { z } from "zod";
import type { ModelInfo } from "../contract/catalogue.js";
import type { ChatRequest } from "../contract/chat.js";
import { OptionsError } from "../errors.js";

export const Thinking = z.union([
  z.boolean(),
  z.strictObject({ budgetTokens: z.int().min(1).max(32_768) }),
  z.strictObject({ effort: z.enum(["low", "medium", "high"]) }),
]);
export type Thinking = z.output<typeof Thinking>;

/**
 * The fields that switch thinking for a model: each family has its own, and refuses those of the others.
 *
 * @throws OptionsError when the model's family has no field for what is asked.
 */
export function thinkingFields(thinking: Thinking | undefined, { id, type, family }: ModelInfo): Partial<ChatRequest> {
  if (thinking === undefined || type === "vlm") return {};
  if (typeof thinking === "boolean") {
    if (family === "Q3") return { enable_thinking: thinking };
    if (family === "D") return { thinking: { type: thinking ? "enabled" : "disabled" } };
    return family === "S" ? {} : { reasoning_effort: thinking ? "medium" : "none" };
  }
  if ("budgetTokens" in thinking) {
    if (family === "Q3") return { enable_thinking: true, thinking_budget: thinking.budgetTokens };
    throw refusal("budgetTokens", "models of the Q3 family", id);
  }
  if (family === undefined) return { reasoning_effort: thinking.effort };
  throw refusal("effort", "models outside the Q3, D and S families", id);
}

function refusal(field: string, takers: string, id: string): OptionsError {
  return new OptionsError(
    "options",
    `chatModel: thinking.${field} is for ${takers}, which ${id} is not by the catalogue; use true or false`,
  );
}
