// Estimates of the bytes that a reply needs, each on the generous side. A reply that is far larger is not what was asked for,
// and would fill the memory: parsed, it takes about four times its size.

const marginFactor = 4;
const minReplyBytes = 8 * 1024 * 1024;

/** The limit of a reply that needs so many bytes. Pure. */
export function replyLimitBytes(neededBytes = 0): number {
  return Math.max(minReplyBytes, marginFactor * neededBytes);
}

/** A number of a vector in decimal; in base64 it takes 6. */
const bytesPerNumber = 25;
/** Dimension of the longest vectors of public services, for models that nobody described. */
const longDimension = 4096;

/** Bytes of as many vectors. Pure. */
export function vectorsBytes(count: number, dimension = longDimension): number {
  return count * dimension * bytesPerNumber;
}

/** The frame of one result. */
const bytesPerResult = 256;
/** A character of most scripts in UTF-8; those of Latin letters take less. */
const bytesPerCharacter = 3;

/** Bytes of a ranking, which may repeat its documents. Pure. */
export function rankingBytes(documents: readonly string[]): number {
  return documents.reduce((sum, { length }) => sum + length * bytesPerCharacter + bytesPerResult, 0);
}

/** A token with the chunk that it comes in when it is streamed, asked for or not. */
const bytesPerToken = 256;
/** Tokens that a model may think; most services do not count them towards `max_tokens`. */
const maxThinkingTokens = 32_768;
/** Tokens that the models of other services may write when a request names no number. */
const maxWrittenTokens = 131_072;

/** Bytes of a reply to chat. Pure. */
export function chatBytes({
  max_tokens: maxTokens = maxWrittenTokens,
  n = 1,
  thinking_budget: thinkingTokens = maxThinkingTokens,
}: {
  readonly max_tokens?: number | undefined;
  readonly n?: number | undefined;
  readonly thinking_budget?: number | undefined;
}): number {
  return n * (maxTokens + thinkingTokens) * bytesPerToken;
}
