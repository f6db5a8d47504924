import type { z } from "zod";
import type { ChatChunk } from "../contract/chat.js";
import { isRecord } from "./error-body.js";

/**
 * Whether a parsed line is an ordinary chunk, text or thinking and nothing else, as almost all are. Says true only of
 * what the schema takes; the schema itself looks at all others. It costs more than reading the JSON does.
 */
export function isPlainChunk(raw: unknown): raw is z.output<typeof ChatChunk> {
  if (!isRecord(raw)) return false;
  const { id, model, created, choices, usage } = raw;
  if (!isText(id) || !isText(model) || !isNothing(usage) || !Array.isArray(choices)) return false;
  if (!isNothing(created) && !Number.isFinite(created)) return false;
  for (const choice of choices as readonly unknown[]) if (!isPlainChoice(choice)) return false;
  return true;
}

function isPlainChoice(choice: unknown): boolean {
  if (!isRecord(choice)) return false;
  const { index, delta, finish_reason } = choice;
  if (!isText(finish_reason) || !isRecord(delta)) return false;
  if (!isNothing(index) && !Number.isSafeInteger(index)) return false;
  const { role, content, reasoning_content, tool_calls } = delta;
  return isText(role) && isText(content) && isText(reasoning_content) && isNothing(tool_calls);
}

function isText(value: unknown): boolean {
  return typeof value === "string" || isNothing(value);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}
