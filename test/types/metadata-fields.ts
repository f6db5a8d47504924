// The schema of the metadata types what goes into a knowledge base and what it is asked by: `npm run types` fails when one of
// these mistakes compiles, or when what is right does not.
import { z } from "zod";
import { openKnowledgeBase, readFolder, searchTool, type AnyTool, type Document, type KnowledgeBase } from "citewell";

const kb = await openKnowledgeBase({
  metadata: z.object({ tenant: z.string(), year: z.int(), tags: z.string().array() }),
});
const mine = { metadata: { tenant: "a", year: { gte: 2024 }, tags: "guide" } } as const;

void kb.search("?", { filter: mine });
export const years: readonly (number | undefined)[] = (await kb.search("?")).hits.map(({ metadata }) => metadata?.year);
void kb.ask("?", { filter: { all: [mine, { uri: { prefix: "file:///" } }] } });
void kb.ask({ question: "?", filter: mine });
void kb.scoped(mine).search("?", { filter: { not: mine } });
void kb.scoped(mine).conversation({ id: "a" }).ask("?", { filter: mine });
void kb.ingest([{ uri: "a", text: "a", metadata: { tenant: "a", year: 2026, tags: [] } }]);
void kb.ingest(readFolder("docs"));
void kb.store.scoped(mine);
export const tools: readonly AnyTool[] = [searchTool(kb), searchTool(kb.scoped(mine))];

// @ts-expect-error the schema has no such field
void kb.search("?", { filter: { metadata: { tennant: "a" } } });

// @ts-expect-error the hits have no such field either
void kb.search("?").then(({ hits }) => hits[0]?.metadata?.tennant);

// @ts-expect-error a year is a number
void kb.search("?", { filter: { metadata: { year: "2026" } } });

// @ts-expect-error the field is also unknown inside all
void kb.ask("?", { filter: { all: [{ metadata: { tennant: "a" } }] } });

// @ts-expect-error the filter of a question knows the fields too
void kb.ask({ question: "?", filter: { metadata: { tennant: "a" } } });

// @ts-expect-error the schema has no such field
kb.scoped({ metadata: { tennant: "a" } });

// @ts-expect-error a scope keeps the fields
void kb.scoped(mine).search("?", { filter: { metadata: { tennant: "a" } } });

// @ts-expect-error a conversation keeps the fields
void kb.conversation({ id: "a" }).ask("?", { filter: { metadata: { tennant: "a" } } });

// @ts-expect-error a field of the metadata is missing
void kb.ingest([{ uri: "a", text: "a", metadata: { tenant: "a", tags: [] } }]);

// @ts-expect-error a plan takes what an ingest takes
void kb.plan([{ uri: "a", text: "a", metadata: { tenant: 1, year: 2026, tags: [] } }]);

// Without a schema nothing is known of the metadata, and every filter may be right.
declare const documents: readonly Document[];
const open: KnowledgeBase = await openKnowledgeBase();
void open.ingest(documents);
void open.search("?", { filter: { metadata: { tennant: "a", year: { lt: 2026 } } } });
