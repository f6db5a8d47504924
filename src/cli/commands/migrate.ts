import { migrateKnowledgeBase, type MigrationReport } from "../../knowledge-base/migrate.js";
import { migrateBack } from "../../store/migrate-back.js";
import { isDatabaseAddress } from "../../store/store-address.js";
import {
  configuredTransport,
  embeddingModelOf,
  print,
  readSettings,
  storePath,
  type CommandIo,
  type StoreFlags,
} from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { counted } from "../output/figures.js";
import { describeReport, describeStop, leavesSomething, reportAsJson } from "../output/ingest-report.js";
import { ingestProgress } from "../output/progress.js";
import type { KnownFolders } from "../output/terminal-text.js";

export interface MigrateFlags extends StoreFlags {
  readonly back?: boolean;
  readonly acceptFailures?: boolean;
  readonly budgetTokens?: number;
  readonly budgetCost?: number;
}

const switchedBack =
  "The store from before the migration serves again. Run citewell index to bring it up to date, or this command again to undo it.\n";

export async function migrateCommand(io: CommandIo, flags: MigrateFlags): Promise<number> {
  const { stderr, signal } = io;
  const settings = readSettings(io, flags);
  const path = storePath(io, settings);
  if (flags.back) {
    if (isDatabaseAddress(path)) {
      const { migratePostgresBack } = await import("../../store/postgres/migration.js");
      await migratePostgresBack(path);
    } else migrateBack(path);
    print(io, flags, { back: true }, switchedBack);
    return exitCodes.done;
  }
  const { budgetTokens: maxTokens, budgetCost: maxCost, acceptFailures = false } = flags;
  const { price, modelFolder, chunk } = settings;
  const transport = configuredTransport(io, settings);
  const { clear, latest, onProgress } = ingestProgress(io);
  try {
    const report = await migrateKnowledgeBase(
      {
        path,
        transport,
        chunk,
        models: { embedding: embeddingModelOf(io, settings) },
        onWarning: (message) => stderr.write(`citewell: ${message}\n`),
      },
      { signal, onProgress, price, maxTokens, maxCost, acceptFailures },
    );
    clear();
    print(io, flags, reportAsJson(report), describeMigration(report, io, modelFolder));
    if (!report.switched) stderr.write(`citewell: ${whyNotSwitched(report)}\n`);
    return report.switched && report.documents.failed === 0 ? exitCodes.done : exitCodes.failures;
  } catch (error) {
    clear();
    if (signal.aborted || leavesSomething(latest())) {
      stderr.write(`The old store still serves. ${describeStop(latest())}`);
    }
    throw error;
  } finally {
    await transport?.close();
  }
}

function whyNotSwitched({ stopped, documents: { failed } }: MigrationReport): string {
  if (stopped) return `${stopped.reason}. The old store still serves.`;
  return (
    `${counted(failed, "document")} failed, so the old store still serves. Run the same command again to retry ` +
    `${failed === 1 ? "it" : "them"}, or with --accept-failures to switch without ${failed === 1 ? "it" : "them"}.`
  );
}

function describeMigration(report: MigrationReport, folders: KnownFolders, modelFolder: string | undefined): string {
  const { from, to, switched } = report;
  const name =
    modelFolder === undefined
      ? `--embedding-model ${to}, or CITEWELL_EMBEDDING_MODEL`
      : `--model-folder ${modelFolder}, or CITEWELL_MODEL_FOLDER`;
  const moved =
    from === to
      ? `Rebuilt for ${to}, the model it had before.`
      : `Moved from ${from ?? "nothing"} to ${to}. From now on name it: ${name}.`;
  const kept = "The old store is kept: citewell migrate --back puts it back.";
  return `${[...describeReport(report, folders), ...(switched ? [moved, kept] : [])].join("\n")}\n`;
}
