import type { Session } from "./connection/server.js";

/** The beginning of a server's keys, in order. */
export interface KeySample {
  /** All keys of the server. */
  readonly count: number;
  /** The first of them, up to `maxSampledKeys`. */
  readonly keys: readonly string[];
}

export const maxSampledKeys = 10_000;

export async function firstVectorKeys(session: Session): Promise<string[]> {
  const rows = await session.query<{ key: string }>("SELECT key FROM vectors ORDER BY key LIMIT $1", [maxSampledKeys]);
  return rows.map(({ key }) => key);
}

/**
 * How many vectors several servers have together, where one whose text is in documents of two servers stands on both. Keys
 * are digests: what part of the first ones is repeated is so of all.
 */
export function distinctVectors(samples: readonly KeySample[]): number {
  const total = samples.reduce((sum, { count }) => sum + count, 0);
  // Beyond the last key of a server that has more, its sample says nothing.
  const ends = samples.filter(({ count, keys }) => keys.length < count).map(({ keys }) => keys.at(-1)!);
  const compared = samples.flatMap(({ keys }) => keys.filter((key) => ends.every((end) => key <= end)));
  if (compared.length === 0) return total;
  return Math.round((total * new Set(compared).size) / compared.length);
}
