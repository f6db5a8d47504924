import { resolve } from "node:path";
import { copyStore } from "../../store/transfer/copy-store.js";
import { exportStore } from "../../store/transfer/export-store.js";
import { exportedSpace, importStore } from "../../store/transfer/import-store.js";
import type { TransferOptions, TransferReport } from "../../store/transfer/transfer-options.js";
import type { TransferCounts } from "../../store/transfer/write-records.js";
import { type CommandIo, explainStop, print, readSettings, type StoreFlags } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { counted } from "../output/figures.js";
import { progressLine } from "../output/progress.js";
import { withStoreAt } from "./stored-at.js";

type Flags = Pick<StoreFlags, "json" | "store" | "config">;

/** Differences that are named; the number says how many there are. */
const maxNamed = 10;

export async function copyCommand(io: CommandIo, from: string, to: string, flags: Flags): Promise<number> {
  return withStoreAt(io, from, undefined, (source) =>
    withStoreAt(io, to, source.space, (target) => transfer(io, flags, (options) => copyStore(source, target, options))),
  );
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
