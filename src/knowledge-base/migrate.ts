import { z } from "zod";
import { functionOption, optionsOf, resolve } from "../core/options.js";
import { runOptions } from "../core/pipeline.js";
import { connectModels } from "./connect-models.js";
import { ingest } from "./ingest.js";
import type { IngestReport } from "./ingest/ledger.js";
import type { IngestRunOptions } from "./ingest/run.js";
import { type SpendingOptions, spendingOptions } from "./ingest/spending.js";
import { type KnowledgeBaseOptions, knowledgeBaseOptions } from "./options.js";

export interface MigrateOptions extends IngestRunOptions, SpendingOptions {
  /** Switch even when documents failed, which the new store then lacks. Default: false. */
  readonly acceptFailures?: boolean;
}

const migrateOptions = optionsOf<MigrateOptions>()({
  ...runOptions.shape,
  ...spendingOptions.shape,
  onProgress: functionOption<NonNullable<MigrateOptions["onProgress"]>>().optional(),
  acceptFailures: z.boolean().default(false),
});

/** What a migration came to; its documents are counted against what the new store had of them before. */
export interface MigrationReport extends IngestReport {
  /** Vector space that the old store has, if it has one, and the new one. */
  readonly from: string | undefined;
  /** Vector space of the new store. */
  readonly to: string;
  /** Whether the new store serves now. When not, the old one does, and the same call goes on. */
  readonly switched: boolean;
}

/**
 * Makes the store at `options.path` anew, with another embedding model or other chunks, from the documents it holds: their
 * files are not needed. The old store serves meanwhile and refuses changes. Only when every document is in the new one do
 * they change places, in one step; the old one stays, for `migrateBack`. Stopped anywhere, call it again: it goes on.
 * Documents are cut as they were, where `options.chunk` does not say how. Chunks whose text and model stay are not embedded
 * again. A store keeps the vectors of texts that are gone, so that their return costs nothing; a migration leaves them
 * behind, also one to the same model.
 *
 * @param options how the knowledge base is to be opened from then on.
 * @throws OptionsError for bad options and for a store in a database, StoreError `missing` or `locked`.
 * @example
 * ```ts
 * import { createTransport, migrateKnowledgeBase } from "citewell";
 * const transport = createTransport({ service: "ollama" });
 * await migrateKnowledgeBase({ path: "./.citewell", transport, models: { embedding: "bge-m3", chat: "qwen3" } });
 * ```
 */
export async function migrateKnowledgeBase(
  options: Omit<KnowledgeBaseOptions, "store">,
  migrating: MigrateOptions = {},
): Promise<MigrationReport> {
  const { acceptFailures, ...how } = resolve("migrateKnowledgeBase", migrateOptions, migrating);
  const { path, onWarning, metadata, chunk, concurrency, ...given } = resolve(
    "migrateKnowledgeBase",
    knowledgeBaseOptions.omit({ store: true }),
    options,
  );
  const { beginMigration } = await import("../store/migration.js");
  const models = await connectModels(given);
  try {
    const { embedder } = models;
    const migration = await beginMigration(path, embedder, { onWarning, ...(metadata && { metadata }) });
    try {
      const { from, target, oldVectors, documentCount } = migration;
      const source = {
        read: ({ report }: { readonly report: (event: { type: "progress"; what: string; count: number }) => void }) => {
          report({ type: "progress", what: "files-found", count: documentCount });
          return migration.documents();
        },
        // What an earlier attempt took over may have been deleted from the old store since.
        vanished: () => true,
      };
      const report = await ingest(source, {
        ...how,
        store: target,
        embedder,
        chunk,
        concurrency,
        reuseFrom: oldVectors,
      });
      const switched = !report.stopped && (report.documents.failed === 0 || acceptFailures);
      if (switched) await migration.finish();
      return { ...report, from, to: embedder.space, switched };
    } finally {
      await migration.close();
    }
  } finally {
    await models.close();
  }
}
