/**
 * Prints what collections need by the model of `planning/sizing.ts`, which is made from the results in `benchmarks/results`, and
 * simulates ingestion with 1 to 1,000 workers.
 *
 *     npm run bench plan [dimensions] [tokens a chunk] [price a million]
 */
import { readResults } from "../runner/documents.js";
import { planMarkdown } from "./plan-tables.js";

const [dimensions = 1024, tokensPerChunk = 300, pricePerMillionTokens = 0.02] = process.argv.slice(2).map(Number);
console.log(planMarkdown(readResults(), { dimensions, tokensPerChunk, pricePerMillionTokens }));
