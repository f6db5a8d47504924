import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const guide = readFileSync(new URL("../../examples/coming-from/README.md", import.meta.url), "utf8");

/** Where what a column names comes from, and names in it that are options, results or variables. */
const columns = {
  "LangChain.js": {
    modules: [
      "langchain",
      "@langchain/classic/chains/retrieval",
      "@langchain/classic/document_loaders/fs/directory",
      "@langchain/classic/retrievers/contextual_compression",
      "@langchain/classic/retrievers/ensemble",
      "@langchain/core/indexing",
      "@langchain/core/runnables",
      "@langchain/core/vectorstores",
      "@langchain/textsplitters",
    ],
    others: ["chain", "filter"],
  },
  LlamaIndexTS: {
    modules: ["llamaindex", "@llamaindex/readers/directory"],
    // `agent` is in @llamaindex/workflow, which cannot be installed beside this llamaindex: each wants another core.
    others: ["MetadataFilters", "agent", "docStore", "retrieve", "sourceNodes", "stream", "true"],
  },
  "AI SDK": { modules: ["ai"], others: [] },
} as const;

test.each(Object.entries(columns))("the guide names what %s has", async (column, { modules, others }) => {
  const rows = guide.split("\n").filter((line) => line.startsWith("|"));
  const cells = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  const at = cells[0]!.indexOf(column);
  const code = cells.flatMap((row) => row[at]!.match(/`[^`]+`/g) ?? []);
  const named = new Set(code.flatMap((words) => words.match(/[A-Za-z]\w*/g)!));
  expect(named.size).toBeGreaterThan(5);
  const present = new Set<string>(others);
  for (const module of modules) {
    for (const [name, value] of Object.entries((await import(module)) as object)) {
      present.add(name);
      if (typeof value !== "function") continue;
      const { prototype } = value as { readonly prototype?: object };
      for (const member of [value, prototype ?? {}].flatMap((of) => Object.getOwnPropertyNames(of)))
        present.add(member);
    }
  }
  expect([...named].filter((name) => !present.has(name))).toEqual([]);
});
