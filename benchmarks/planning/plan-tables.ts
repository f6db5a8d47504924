import type { Result } from "../runner/result.js";
import { formatted, markdownTable } from "../runner/tables.js";
import { simulateIngest } from "./simulate-ingest.js";
import { type Collection, sizedBy, sizeOf, sizingFigures, workersFor } from "./sizing.js";

/** The properties of a collection that do not depend on its size. */
export type Kind = Pick<Collection, "dimensions" | "tokensPerChunk" | "pricePerMillionTokens">;

const usual: Kind = { dimensions: 1024, tokensPerChunk: 300, pricePerMillionTokens: 0.02 };
const sizes = [100_000, 1_000_000, 10_000_000, 100_000_000];
const stores = { embedded: "folder", vector: "PostgreSQL, `vector`", halfvec: "PostgreSQL, `halfvec`" } as const;
const load = {
  chunksPerDocument: 10,
  requestsPerMinute: 3000,
  textsPerRequest: 64,
  latencyMs: 500,
  concurrency: 8,
  failureShare: 0.05,
};

/** Renders the needs of collections and the workers for a load as Markdown tables, or names the missing measurements. */
export function planMarkdown(results: ReadonlyMap<string, Result>, kind = usual): string {
  const figures = sizingFigures(results);
  if (figures === undefined) return `Not known before \`npm run bench -- ${sizedBy.join(" ")}\` has run.`;
  const storeNames = Object.keys(stores) as (keyof typeof stores)[];
  const needed = [
    ["memory, GB", ({ memoryBytes }) => memoryBytes / 1e9],
    ["disk with indexes, GB", ({ diskBytes }) => diskBytes / 1e9],
    ["graph, hours", ({ buildSeconds }) => buildSeconds / 3600],
  ] satisfies [string, (size: ReturnType<typeof sizeOf>) => number][];
  const of = (chunks: number, store: keyof typeof stores) => sizeOf({ ...kind, chunks, store }, figures);
  const { dimensions, tokensPerChunk, pricePerMillionTokens } = kind;
  const what = `${formatted(dimensions)} dimensions, ${tokensPerChunk} tokens a chunk, ${pricePerMillionTokens} a million tokens`;
  const collections = markdownTable(
    [what, ...sizes.map((chunks) => `${formatted(chunks)} chunks`)],
    [
      ...needed.flatMap(([name, amount]) =>
        storeNames.map((store) => [
          `${name}, ${stores[store]}`,
          ...sizes.map((chunks) => formatted(amount(of(chunks, store)))),
        ]),
      ),
      ["embedding once", ...sizes.map((chunks) => formatted(of(chunks, "embedded").cost))],
    ],
  );
  const days = [1_000_000, 10_000_000, 26_000_000];
  const workers = markdownTable(
    [
      `documents of ${load.chunksPerDocument} chunks a day, ${formatted(load.requestsPerMinute)} requests a minute of ${load.textsPerRequest} texts in ` +
        `${load.latencyMs} ms, ${load.failureShare * 100} % failing`,
      ...days.map(formatted),
    ],
    [
      [
        "workers",
        ...days.map((documentsPerDay) => formatted(workersFor({ ...load, documentsPerDay }, figures).workers)),
      ],
    ],
  );
  const workMs = (1000 * load.textsPerRequest) / figures.workerChunksPerSecond;
  const crowds = [1, 2, 4, 10, 100, 1000];
  const runs = crowds.map((count) =>
    simulateIngest({ ...load, workers: count, workMs, batches: 200_000, lifeSeconds: 3600, seed: 1 }),
  );
  const simulated = markdownTable(
    ["workers that live an hour on average, 200,000 requests, simulated", ...crowds.map(formatted)],
    [
      ["hours", ...runs.map(({ seconds }) => formatted(seconds / 3600))],
      ["share of the limit that is used", ...runs.map(({ limitUsed }) => formatted(limitUsed))],
      ["workers killed", ...runs.map(({ kills }) => formatted(kills))],
      ["requests paid for twice", ...runs.map(({ lost }) => formatted(lost))],
    ],
  );
  return [collections, workers, simulated].join("\n\n");
}
