import { OptionsError, StoreError } from "../errors.js";
import type { Verification } from "../ports.js";
import { counted } from "./counted.js";
import { withKnowledgeBase, type StoreFlags, type World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { safeForTerminal } from "./terminal-text.js";

export interface VerifyFlags extends StoreFlags {
  readonly sample?: number;
  readonly repair?: boolean;
  readonly dropUnused?: boolean;
}

export async function verifyCommand(world: World, flags: VerifyFlags): Promise<number> {
  const { sample, repair, dropUnused } = flags;
  if (dropUnused && !repair)
    throw new OptionsError("options", "--drop-unused changes the store: it goes with --repair");
  const found = await withKnowledgeBase(world, flags, false, (kb) =>
    kb.verify({
      signal: world.signal,
      ...(sample !== undefined && { sample }),
      ...(repair !== undefined && { repair }),
      ...(dropUnused !== undefined && { dropUnusedVectors: dropUnused }),
    }),
  ).catch((error: unknown) => {
    if (world.signal.aborted) world.stderr.write("Stopped; the store is as it was. Run the same command again.\n");
    return broken(error);
  });
  const { ok, problems, recall = null, droppedVectors } = found;
  world.stdout.write(
    flags.json ? `${JSON.stringify({ ok, problems, recall, droppedVectors })}\n` : describe(found, flags),
  );
  return found.ok ? exitCodes.done : exitCodes.failures;
}

/** A database that is too broken to be opened is a finding too. */
function broken(error: unknown): Verification {
  if (!(error instanceof StoreError && error.code === "damaged")) throw error;
  const problem = { what: "database", message: error.message, repairable: false } as const;
  return { ok: false, problems: [problem], recall: undefined, repaired: false };
}

function describe({ ok, problems, recall, repaired, droppedVectors }: Verification, { repair }: VerifyFlags): string {
  const lines = problems.map(({ what, message }) => `${what}: ${safeForTerminal(message)}`);
  if (recall !== undefined) lines.push(`Dense search finds ${(100 * recall).toFixed(1)} % of the exact ten nearest.`);
  if (droppedVectors !== undefined) lines.push(`Dropped ${counted(droppedVectors, "vector")} that no document needs.`);
  if (ok)
    lines.push(problems.length === 0 ? "The store is sound." : "Repaired. Index again to bring back what was lost.");
  else if (!repaired && !repair && problems.every((problem) => problem.repairable)) lines.push("Run it with --repair.");
  else lines.push("This cannot be repaired: restore a backup, or delete the store and index again.");
  return `${lines.join("\n")}\n`;
}
