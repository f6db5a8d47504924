import type { SearchMode } from "../stages/search.js";
import type { EvalPlan } from "./eval-run.js";

/** Of a grid: fusions that differ in what the vectors' word is worth and in how much first places count. */
const gridDenseWeights = [0.2, 0.5, 1, 2] as const;
const gridK = [10, 60] as const;

/** The ways of searching that are measured, one after another over one store. */
export function evalPlans({
  modes,
  rerank,
  grid,
}: {
  readonly modes: readonly SearchMode[] | undefined;
  readonly rerank: boolean;
  readonly grid: boolean;
}): readonly EvalPlan[] {
  if (!grid) return (modes ?? ["hybrid"]).map((mode) => ({ mode, rerank }));
  const searches = (modes ?? ["lexical", "dense", "hybrid"]).flatMap((mode): Omit<EvalPlan, "rerank">[] =>
    mode === "hybrid" ? [{ mode }, ...fusions()] : [{ mode }],
  );
  // Reranked, hybrid searches differ in little: what is fused how decides the order alone.
  const reranked = searches.filter(({ fusion }) => fusion === undefined);
  return [
    ...searches.map((search) => ({ ...search, rerank: false })),
    ...reranked.map((search) => ({ ...search, rerank: true })),
  ];
}

function fusions(): Omit<EvalPlan, "rerank">[] {
  return gridK.flatMap((k) =>
    gridDenseWeights.map((dense) => ({ mode: "hybrid" as const, fusion: { k, weights: { dense, lexical: 1 } } })),
  );
}
