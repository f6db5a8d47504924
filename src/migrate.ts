import { KnowledgeBaseOptions } from "./knowledge-base-options.js";
import { embedder } from "./models/embedder.js";
import { resolve } from "./options.js";
import { Pipeline } from "./pipeline.js";
import { chunk } from "./stages/chunk.js";
import { embedChunks } from "./stages/embed-chunks.js";
import type { IngestReport } from "./stages/ingest-ledger.js";
import { chosenChunkSettings, costlyCut, keepingSettings, keptSettings } from "./stages/kept-settings.js";
import { keepLanded } from "./stages/keep-landed.js";
import { runIngest, type RunIngestOptions } from "./stages/run-ingest.js";
import { skipKnown } from "./stages/skip-known.js";
import { skipUnchanged } from "./stages/skip-unchanged.js";
import { spending, type SpendingOptions } from "./stages/spending.js";
import { storeBlank } from "./stages/store-blank.js";
import { store } from "./stages/store.js";
import { TokenBudget } from "./stages/token-budget.js";
import { beginMigration } from "./store/migration.js";
import type { Document } from "./types.js";
import { connectUpstream } from "./upstream.js";

export interface MigrateOptions extends RunIngestOptions, SpendingOptions {
  /** Switch even when documents failed, which the new store then lacks. Default: false. */
  readonly acceptFailures?: boolean;
}

/** What a migration came to: of the documents, as what the new store had of them before. */
export interface MigrationReport extends IngestReport {
  /** Vector space that the old store has, if it has one, and the new one. */
  readonly from: string | undefined;
  readonly to: string;
  /** Whether the new store serves now. When not, the old one does, and the same call goes on. */
  readonly switched: boolean;
}

/**
 * Makes the store at `options.path` anew, with another embedding model or other chunks, from the documents it holds: their
 * files are not needed. The old store serves meanwhile and refuses changes. Only when every document is in the new one do
 * they change places, in one step; the old one stays, for `migrateBack`. Stopped anywhere, call it again: it goes on.
 * Documents are cut as they were, where `options.chunk` does not say how. Chunks whose text and model stay are not embedded
 * again. A store keeps the vectors of texts that are gone, so that what
 * comes back costs nothing; a migration, also to the model it has, leaves them behind.
 *
 * @param options how the knowledge base is to be opened from then on.
 * @throws OptionsError for bad options, StoreError `missing` or `locked`.
 */
export async function migrateKnowledgeBase(
  options: KnowledgeBaseOptions,
  { price, maxTokens, maxCost, acceptFailures = false, ...run }: MigrateOptions = {},
): Promise<MigrationReport> {
  const settings = resolve("migrateKnowledgeBase", KnowledgeBaseOptions, options);
  const budget = spending("migrateKnowledgeBase", { price, maxTokens, maxCost });
  const upstream = await connectUpstream(settings.transport, settings.models);
  try {
    const embed = embedder(upstream.transport, { model: upstream.model("embedding") });
    const migration = await beginMigration(settings.path, embed, { onWarning: settings.onWarning });
    try {
      const { from, target, known, documentCount } = migration;
      const cutting = chosenChunkSettings(settings.chunk, keptSettings(migration), embed.maxInputTokens);
      const landed = keepLanded(embed, keepingSettings(target, cutting));
      const into = landed.store;
      const flow = Pipeline.from<Document>()
        .pipe(storeBlank(into))
        .pipe(skipUnchanged(target, costlyCut(cutting)))
        .pipe(chunk({ ...settings.chunk, ...cutting, for: embed }))
        .pipe(skipKnown(known))
        .pipe(embedChunks(landed.embedder, { concurrency: settings.concurrency, maxTokens: budget.maxTokens }))
        .pipe(store(into));
      const source = {
        read: ({ report }: Parameters<typeof flow.run>[1]) => {
          report({ type: "progress", what: "files-found", count: documentCount });
          return migration.documents();
        },
        // What an earlier attempt took over may have been deleted from the old store since.
        vanished: () => true,
      };
      const spent = budget.maxTokens === undefined ? undefined : new TokenBudget(budget.maxTokens);
      const report = await landed.during(() => runIngest(source, flow, target, { ...run, budget: spent }));
      const switched = !report.stopped && (report.documents.failed === 0 || acceptFailures);
      if (switched) await migration.finish();
      return { ...report, ...budget.costOf(report.tokens), from, to: embed.space, switched };
    } finally {
      await migration.close();
    }
  } finally {
    await upstream.close();
  }
}
