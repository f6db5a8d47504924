/** What is known of a saved graph before it is read. */
export interface GraphFacts {
  readonly format: 1;
  /** The store that it was made from. */
  readonly store: string;
  readonly m: number;
  readonly efConstruction: number;
  readonly ef: number;
  readonly dimension: number;
  readonly count: number;
  readonly deleted: number;
  readonly lastLabel: number;
  /** How many living elements there were when `ef` was tuned; 0 when it was not. */
  readonly tunedAt: number;
  /** Up to where of the store's changes it goes. */
  readonly position: { readonly label: number; readonly removal: number };
}

/** The facts that a manifest holds, `undefined` where it is of another format. */
export function graphFacts(manifest: object): GraphFacts | undefined {
  // By hand: the package that checks all else takes 11 MB in each thread that loads it, and this is all the graph's checks.
  const { tunedAt = 0, ...facts } = manifest as Partial<GraphFacts>;
  const { format, store, m, efConstruction, ef, dimension, count, deleted, lastLabel, position } = facts;
  const numbers = [m, efConstruction, ef, dimension, count, deleted, lastLabel, tunedAt, position?.label];
  const whole = [...numbers, position?.removal].every((number) => Number.isSafeInteger(number) && number! >= 0);
  if (format !== 1 || typeof store !== "string" || !whole || dimension === 0) return undefined;
  return { ...(facts as GraphFacts), tunedAt };
}
