import type { CallOptions, Verification } from "../../../core/ports.js";
import { checkTables, measureRecall } from "./checking.js";
import { repairTables } from "./repairing.js";
import type { Precision } from "../schema.js";
import type { Server } from "../connection/server.js";

export interface ServerChecks {
  readonly sample: number;
  readonly repair: boolean;
  readonly dropUnusedVectors: boolean;
  readonly precision: Precision;
  /** Length of the vectors; undefined while there are none. */
  readonly dimension: number | undefined;
}

/** Checks the part of a store that one server has, repairs it if asked to, and measures the recall of dense search. */
export async function verifyServer(
  server: Server,
  { sample, repair, dropUnusedVectors, precision, dimension }: ServerChecks,
  call: CallOptions,
): Promise<Verification> {
  const check = () => server.snapshot((session) => checkTables(session, dimension, call.signal), call);
  const before = await check();
  const repaired = repair && before.problems.every(({ repairable }) => repairable);
  let [after, droppedVectors] = [before, 0];
  if (repaired && (before.problems.length > 0 || dropUnusedVectors)) {
    // A repair that has begun is completed.
    droppedVectors = await server.transaction((session) => repairTables(session, before, dropUnusedVectors), {
      deadlineMs: Infinity,
    });
    after = await check();
  }
  const ok = after.problems.length === 0;
  const recall =
    ok && dimension !== undefined
      ? await server.read((session) => measureRecall(session, sample, precision), call)
      : undefined;
  return { ok, problems: before.problems, recall, repaired, droppedVectors };
}
