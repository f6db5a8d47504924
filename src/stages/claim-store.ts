import type { Embedder, Store } from "../ports.js";
import { withEmbed } from "./with-embed.js";

/**
 * Embedders that are asked only once the store could be written: two ingests into one store would both pay, and the one
 * that comes second to the first write loses all of it. What needs no embedding needs no right to write either.
 */
export function claimingStore(
  store: Pick<Store, "deleteDocuments">,
): <Space extends string>(embedder: Embedder<Space>) => Embedder<Space> {
  let claimed: Promise<unknown> | undefined;
  // A change of nothing: the right to write comes with the first change, and stays until the store is closed.
  const claim = () => (claimed ??= store.deleteDocuments([]));
  return (embedder) =>
    withEmbed(embedder, async (texts, call) => {
      await claim();
      return embedder.embed(texts, call);
    });
}
