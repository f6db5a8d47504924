import { migrateKnowledgeBase, type MigrationReport } from "../migrate.js";
import type { IngestProgress } from "../stages/ingest-ledger.js";
import { migrateBack } from "../store/migration.js";
import { configuredTransport, settingsOf, storePath, type StoreFlags, type World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { count, counted } from "./counted.js";
import { describeStop, leavesSomething } from "./describe-stop.js";
import { describeProgress, duration, progressLine } from "./progress-line.js";
import { describeCost, describeOutcomes, describeUnfinished, failuresAsJson, listLeftOut } from "./show-outcomes.js";

export interface MigrateFlags extends StoreFlags {
  readonly back?: boolean;
  readonly acceptFailures?: boolean;
  readonly maxTokens?: number;
  readonly maxCost?: number;
}

export async function migrateCommand(world: World, flags: MigrateFlags): Promise<number> {
  const settings = settingsOf(world, flags);
  const path = storePath(world, settings);
  if (flags.back) {
    migrateBack(path);
    world.stdout.write(
      flags.json
        ? `${JSON.stringify({ back: true })}\n`
        : `The store that served before the migration serves again, as it was then. Run citewell index to bring it up to date, or this command again to undo it.\n`,
    );
    return exitCodes.done;
  }
  const { maxTokens, maxCost, acceptFailures } = flags;
  const { price, embeddingModel } = settings;
  const transport = configuredTransport(settings, world.environment);
  const line = progressLine(world.stderr, describeProgress);
  let latest: IngestProgress | undefined;
  try {
    const report = await migrateKnowledgeBase(
      {
        path,
        transport,
        chunk: settings.chunk,
        models: { embedding: embeddingModel },
        onWarning: (message) => world.stderr.write(`citewell: ${message}\n`),
      },
      {
        signal: world.signal,
        onProgress: (progress) => {
          latest = progress;
          line.update(progress);
        },
        ...(price !== undefined && { price }),
        ...(maxTokens !== undefined && { maxTokens }),
        ...(maxCost !== undefined && { maxCost }),
        ...(acceptFailures !== undefined && { acceptFailures }),
      },
    );
    line.clear();
    world.stdout.write(
      flags.json
        ? `${JSON.stringify({ ...report, failures: failuresAsJson(report.failures) })}\n`
        : describeMigration(report, world.directory),
    );
    if (!report.switched) world.stderr.write(`citewell: ${whyNotSwitched(report)}\n`);
    return report.switched && report.documents.failed === 0 ? exitCodes.done : exitCodes.failures;
  } catch (error) {
    line.clear();
    if (world.signal.aborted || leavesSomething(latest)) {
      world.stderr.write(`The old store serves as before. ${describeStop(latest)}`);
    }
    throw error;
  } finally {
    await transport?.close();
  }
}

function whyNotSwitched({ stopped, documents }: MigrationReport): string {
  if (stopped) return `${stopped.reason}. The old store serves as before.`;
  return (
    `${counted(documents.failed, "document")} failed, so the old store serves as before. Run the same command again to try ` +
    `${documents.failed === 1 ? "it" : "them"} again, or with --accept-failures to go on without.`
  );
}

function describeMigration(report: MigrationReport, directory: string): string {
  const { from, to, switched, documents, chunks, requests, tokens, cost, seconds } = report;
  const lines = [
    `Documents  ${describeOutcomes(documents)}${describeUnfinished(report)}`,
    `Chunks     ${count(chunks.total)} (${count(chunks.embedded)} embedded, ${count(chunks.reused)} reused)`,
    `Upstream   ${counted(requests, "request")}, ${counted(tokens, "token")}${describeCost(cost)}, ${duration(seconds)}`,
    ...listLeftOut(report, directory),
    ...(switched
      ? [
          from === to
            ? `Made anew for ${to}, as before.`
            : `Moved from ${from ?? "nothing"} to ${to}. From now on name it: --embedding-model ${to}, or CITEWELL_EMBEDDING_MODEL.`,
          "The old store is kept: citewell migrate --back puts it back.",
        ]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}
