import { z } from "zod";
import { asError } from "../../errors.js";
import type { StoreProblem } from "../../ports.js";
import { graphFacts } from "../dense/graph-facts.js";
import { checkGraphFile } from "../dense/hnsw-file.js";
import { loadGeneration } from "../generation.js";

const LexicalFacts = z.object({ store: z.string() });

/** Whether the saved graph and lexical index are, byte for byte, what was saved from this store. */
export async function checkDerived(folder: string, store: string): Promise<readonly StoreProblem[]> {
  const [graph, lexical] = await Promise.all([
    loadGeneration(folder, "graph", graphFacts),
    loadGeneration(folder, "lexical", (manifest) => LexicalFacts.safeParse(manifest).data),
  ]);
  const problems: StoreProblem[] = [];
  const found = (what: "graph" | "lexical", message: string) => problems.push({ what, message, repairable: true });
  for (const [what, loaded] of [["graph", graph] as const, ["lexical", lexical] as const]) {
    if (loaded.outcome === "refused") found(what, loaded.reason);
    else if (loaded.outcome === "loaded" && loaded.generation.facts.store !== store) {
      found(what, `${loaded.generation.filePath} was made from another store`);
    }
  }
  if (graph.outcome === "loaded") {
    const { facts, filePath } = graph.generation;
    await checkGraphFile(filePath, facts).catch((error: unknown) => found("graph", asError(error).message));
  }
  return problems;
}
