import { z } from "zod";
import { observerOption, optionsOf, resolve } from "../core/options.js";
import { runOptions } from "../core/pipeline.js";
import { isDatabaseAddress } from "../store/store-address.js";
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
  onProgress: observerOption<NonNullable<MigrateOptions["onProgress"]>>("onProgress").optional(),
  acceptFailures: z.boolean().default(false),
});

/** Result of a migration; its documents are counted against those that the new store held before. */
export interface MigrationReport extends IngestReport {
  /** Vector space that the old store has, if it has one, and the new one. */
  readonly from: string | undefined;
  /** Vector space of the new store. */
  readonly to: string;
  /** Whether the new store serves now. If not, the old one does, and the same call continues the migration. */
  readonly switched: boolean;
}

/**
 * Rebuilds the store at `options.path`, a folder or a database, with another embedding model or other chunks, from the documents it holds:
 * their files are not needed. The old store keeps serving meanwhile and refuses changes; in a database they wait. The two change places in one
 * step when every document is in the new one; the old one stays, for `migrateBack` or `migratePostgresBack`. If stopped, call it again: it
 * resumes. Documents are cut as before unless `options.chunk` says otherwise. Chunks whose text and model stay are not
 * embedded again. A store keeps the vectors of texts that are gone, so that their return costs nothing; a migration
 * leaves them behind, also one to the same model.
 *
 * @param options how the knowledge base is to be opened from then on.
 * @throws OptionsError for bad options, StoreError `missing` or `locked`.
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
  const { beginMigration } = isDatabaseAddress(path)
    ? await import("../store/postgres/migration.js")
    : await import("../store/migration.js");
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
        // Documents that an earlier attempt took over may have been deleted from the old store since.
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
