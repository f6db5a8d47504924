import type { Changes, VectorRow } from "../changes.js";
import { Follower } from "../follower.js";
import type { DenseIndex } from "./dense-index.js";
import { FlatIndex } from "./flat-index.js";

/** Exact search on this thread. Nothing is saved: reading the vectors again takes as long as reading a file of them. */
export function flatDense(changes: Changes): DenseIndex {
  let index: FlatIndex | undefined;
  const follower = new Follower<VectorRow>(changes, {
    read: (label, limit) => changes.vectorsAfter(label, limit),
    add: ({ label, vector }) => (index ??= new FlatIndex(vector.length)).add(label, vector),
    remove: (label) => index?.remove(label),
  });
  return {
    failure: () => undefined,
    search: async (vector, count, { allowed, upTo } = {}) => {
      await follower.follow(upTo);
      return index
        ? index.search(vector, count, allowed)
        : { labels: new Float64Array(0), scores: new Float64Array(0) };
    },
    followAhead: () => follower.follow(),
    follow: () => follower.follow(),
    save: async () => {},
    close: () => follower.stop(),
  };
}
