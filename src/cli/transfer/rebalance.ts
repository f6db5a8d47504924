import { OptionsError } from "../../core/errors.js";
import { databaseAddresses, isDatabaseAddress } from "../../store/open-store-at.js";
import { type CommandIo, explainStop, print, readSettings, type StoreFlags } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { counted } from "../output/figures.js";
import { progressLine } from "../output/progress.js";

/** `citewell rebalance`: spreads a store over the servers that its address names. */
export async function rebalanceCommand(
  io: CommandIo,
  flags: Pick<StoreFlags, "json" | "store" | "config">,
): Promise<number> {
  const { store = "" } = readSettings(io, flags);
  const [url, ...shards] = databaseAddresses(store);
  if (!isDatabaseAddress(store) || shards.length === 0) {
    const wayOut =
      "Name all servers of the store, the new ones last: --store postgres://user@a/docs,postgres://user@b/docs";
    throw new OptionsError("options", `Documents are spread over several PostgreSQL databases. ${wayOut}`);
  }
  const { rebalanceShards } = await import("../../store/postgres/rebalance-shards.js");
  type Progress = import("../../store/postgres/rebalance-shards.js").RebalanceProgress;
  const line = progressLine<Progress>(
    io.notes,
    ({ documents, parts, partsToMove }) =>
      `${counted(documents, "document")} copied  ${parts} of ${counted(partsToMove, "part")}`,
  );
  const stopped = "Stopped; what was moved stays moved. Run the same command again to go on.\n";
  const running = rebalanceShards(url, { shards, signal: io.signal, onProgress: line.update }).finally(line.clear);
  const report = await explainStop(io, stopped, running);
  print(io, flags, report, `${counted(report.documents, "document")} moved; the servers have equal parts now.\n`);
  return exitCodes.done;
}
