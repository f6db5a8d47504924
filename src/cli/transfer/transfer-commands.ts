import { resolve } from "node:path";
import { OptionsError } from "../../core/errors.js";
import type { Store } from "../../core/ports.js";
import { isDatabaseAddress } from "../../store/store-address.js";
import { copyStore } from "../../store/transfer/copy-store.js";
import { exportStore } from "../../store/transfer/export-store.js";
import { exportedSpace, importStore } from "../../store/transfer/import-store.js";
import type { TransferOptions, TransferReport } from "../../store/transfer/transfer-options.js";
import type { TransferCounts } from "../../store/transfer/write-records.js";
import {
  type CommandIo,
  distributedOf,
  explainStop,
  print,
  readSettings,
  type StoreFlags,
} from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { counted } from "../output/figures.js";
import { progressLine } from "../output/progress.js";
import { withStoreAt } from "./with-store-at.js";

type Flags = Pick<StoreFlags, "json" | "store" | "schema" | "config">;

/** Maximum number of differences that are listed; the total is printed, too. */
const maxNamed = 10;

export async function copyCommand(
  io: CommandIo,
  from: string,
  to: string,
  flags: Flags & Pick<StoreFlags, "distributed">,
): Promise<number> {
  const distributed = distributedOf(flags);
  // An earlier version spread a store over the servers of several addresses, each of which has a part.
  const parts = from.split(/,(?=postgres(?:ql)?:\/\/)/i);
  const formerShard = parts.length > 1;
  return transfer(io, flags, async (options) => {
    const reports: TransferReport[] = [];
    for (const part of parts) {
      const copyTo = (source: Store) =>
        withStoreAt(
          io,
          to,
          source.space,
          (target) => copyStore(source, target, options),
          distributed && { distributed },
        );
      reports.push(await withStoreAt(io, part, undefined, copyTo, { formerShard }));
    }
    return addedUp(reports);
  });
}

/** One report of copies from several sources into one target. */
function addedUp(reports: readonly TransferReport[]): TransferReport {
  const sum = (figure: (report: TransferReport) => number) =>
    reports.reduce((total, report) => total + figure(report), 0);
  return {
    copied: sum(({ copied }) => copied),
    unchanged: sum(({ unchanged }) => unchanged),
    chunks: sum(({ chunks }) => chunks),
    documents: { source: sum(({ documents }) => documents.source), target: reports.at(-1)!.documents.target },
    differences: reports.flatMap(({ differences }) => differences),
  };
}

export async function distributeCommand(io: CommandIo, flags: Flags & { readonly shards?: number }): Promise<number> {
  const { store = "" } = readSettings(io, flags);
  if (!isDatabaseAddress(store)) {
    const hint = "Name the coordinator of a Citus cluster: --store postgres://user@coordinator/docs";
    throw new OptionsError("options", `A store in a folder cannot be distributed. ${hint}`);
  }
  const { distributeStore } = await import("../../store/postgres/distribute-store.js");
  const done = await distributeStore(store, { ...(flags.shards !== undefined && { shards: flags.shards }) });
  const how = done.isNew ? "The store is distributed" : "The store was distributed already";
  print(io, flags, done, `${how}: ${counted(done.shards, "shard")} of each table.\n`);
  return exitCodes.done;
}

export async function exportCommand(io: CommandIo, file: string, flags: Flags): Promise<number> {
  const { store = ".citewell" } = readSettings(io, flags);
  const path = resolve(io.directory, file);
  return withStoreAt(io, store, undefined, (source) =>
    transfer(io, flags, (options) => exportStore(source, path, options)),
  );
}

export async function importCommand(io: CommandIo, file: string, flags: Flags): Promise<number> {
  const { store = ".citewell" } = readSettings(io, flags);
  const path = resolve(io.directory, file);
  const { space } = await exportedSpace(path);
  return withStoreAt(io, store, space, (target) =>
    transfer(io, flags, (options) => importStore(path, target, options)),
  );
}

async function transfer(
  io: CommandIo,
  flags: Flags,
  run: (options: TransferOptions) => Promise<TransferReport>,
): Promise<number> {
  const line = progressLine<TransferCounts>(io.notes, ({ copied, unchanged }) =>
    [
      `${counted(copied, "document")} copied`,
      ...(unchanged > 0 ? [`${counted(unchanged, "document")} there already`] : []),
    ].join("  "),
  );
  const stopped = "Stopped; what was copied is kept. Run the same command again to go on.\n";
  const running = run({ signal: io.signal, onProgress: line.update }).finally(line.clear);
  const report = await explainStop(io, stopped, running);
  print(io, flags, report, describe(report));
  return report.differences.length === 0 && report.documents.source <= report.documents.target
    ? exitCodes.done
    : exitCodes.failures;
}

function describe({ copied, unchanged, chunks, documents, differences }: TransferReport): string {
  const lines = [
    `${counted(copied, "document")} copied with ${counted(chunks, "chunk")}, ${counted(unchanged, "document")} there already.`,
    `The source has ${counted(documents.source, "document")}, the target ${counted(documents.target, "document")}.`,
  ];
  if (differences.length === 0) lines.push("Compared: every document and every vector is the same.");
  else {
    lines.push(`${counted(differences.length, "document")} differ:`, ...differences.slice(0, maxNamed));
    lines.push("Something may have been written meanwhile: run the same command again.");
  }
  return `${lines.join("\n")}\n`;
}
