/** The share of the budgets that one call takes. */
export interface Load {
  readonly requests: number;
  readonly tokens: number;
}

/** Bytes of UTF-8 per token: a Chinese character has three, an English token about four. */
const bytesPerToken = 3;

/**
 * Estimates the tokens that a request will be counted as: rather too many, since the service's own count corrects it.
 * Texts count; pictures and clips, sent as addresses or as data, do not.
 */
export function estimatedTokens(body: unknown): number {
  const { query, documents } = (body ?? {}) as { readonly query?: unknown; readonly documents?: unknown };
  // The model reads a query once with each document.
  const queries = Array.isArray(documents) ? documents.length : 1;
  const bytes = textBytes(body) + (queries - 1) * textBytes(query);
  return Math.ceil(bytes / bytesPerToken);
}

function textBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  let bytes = 0;
  for (const [field, part] of Object.entries(value)) if (!field.endsWith("_url")) bytes += textBytes(part);
  return bytes;
}
