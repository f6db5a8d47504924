import { OptionsError, StoreError } from "../../core/errors.js";
import type { Verification } from "../../core/ports.js";
import { counted, graphOf } from "../output/figures.js";
import { explainStop, print, withKnowledgeBase, type StoreFlags, type CommandIo } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { safeForTerminal } from "../output/terminal-text.js";
import { given } from "../../core/given.js";

export interface VerifyFlags extends StoreFlags {
  readonly sample?: number;
  readonly repair?: boolean;
  readonly dropUnused?: boolean;
}

export async function verifyCommand(io: CommandIo, flags: VerifyFlags): Promise<number> {
  const { sample, repair, dropUnused } = flags;
  if (dropUnused && !repair) {
    throw new OptionsError("options", "--drop-unused changes the store: use it with --repair");
  }
  const verifying = withKnowledgeBase(io, flags, false, (kb) =>
    kb.verify({ signal: io.signal, ...given({ sample, repair, dropUnusedVectors: dropUnused }) }),
  );
  const stopped = "Stopped; the store is as it was. Run the same command again.\n";
  const found = await explainStop(io, stopped, verifying).catch(unopenable);
  const { ok, problems, recall = null, quantization, droppedVectors } = found;
  print(io, flags, { ok, problems, recall, quantization, droppedVectors }, describe(found, flags));
  return found.ok ? exitCodes.done : exitCodes.failures;
}

/** A database too damaged to be opened is a finding, not a failure of the command. */
function unopenable(error: unknown): Verification {
  if (!(error instanceof StoreError && error.code === "damaged")) throw error;
  const problem = { what: "database", message: error.message, repairable: false } as const;
  return { ok: false, problems: [problem], recall: undefined, repaired: false };
}

function describe(found: Verification, { repair }: VerifyFlags): string {
  const { ok, problems, recall, quantization, repaired, droppedVectors } = found;
  const lines = problems.map(({ what, message }) => `${what}: ${safeForTerminal(message)}`);
  if (recall !== undefined) lines.push(`Dense search finds ${(100 * recall).toFixed(1)} % of the ten nearest chunks.`);
  if (quantization !== undefined) lines.push(`Its graph has ${graphOf[quantization]}.`);
  if (droppedVectors !== undefined) lines.push(`Dropped ${counted(droppedVectors, "vector")} that no document needs.`);
  const repairable = !repaired && !repair && problems.every((problem) => problem.repairable);
  if (ok && problems.length === 0) lines.push("The store is sound.");
  else if (ok) lines.push("Repaired. Index again to bring back what was lost.");
  else if (repairable) lines.push("Run citewell verify --repair.");
  else lines.push("This cannot be repaired: restore a backup, or delete the store and index again.");
  return `${lines.join("\n")}\n`;
}
