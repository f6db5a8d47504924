import type { CallOptions, Verification } from "../../../core/ports.js";
import { checkTables, measureRecall } from "./checking.js";
import { type Repair, repairTables } from "./repairing.js";
import { withSettings } from "../../../postgres/local-settings.js";
import type { Server, Session } from "../../../postgres/server.js";

export interface ServerChecks extends Repair {
  readonly sample: number;
  readonly repair: boolean;
}

/** Checks a store, repairs it if asked to, and measures the recall of dense search. */
export async function verifyServer(server: Server, checks: ServerChecks, call: CallOptions): Promise<Verification> {
  const { sample, repair, dropUnusedVectors, facts } = checks;
  const { dimension, isDistributed, nodeSettings } = facts;
  const checkOnce = () => server.snapshot((session) => checkTables(session, facts, call.signal), call);
  const check = async () => {
    const found = await checkOnce();
    if (!isDistributed || found.problems.length === 0) return found;
    // Each node has a snapshot of its own, between which others may have written: only what is found twice is a problem.
    const again = new Set((await checkOnce()).problems.map(({ message }) => message));
    return { ...found, problems: found.problems.filter(({ message }) => again.has(message)) };
  };
  const before = await check();
  const repaired = repair && before.problems.every(({ repairable }) => repairable);
  let [after, droppedVectors] = [before, 0];
  if (repaired && (before.problems.length > 0 || dropUnusedVectors)) {
    // A repair that has begun is completed.
    droppedVectors = await server.transaction((session) => repairTables(session, before, checks), {
      deadlineMs: Infinity,
    });
    after = await check();
  }
  const measuring = (session: Session) => measureRecall(session, sample, facts);
  const ok = after.problems.length === 0;
  const recall =
    ok && dimension !== undefined ? await server.read(withSettings(nodeSettings, measuring), call) : undefined;
  return { ok, problems: before.problems, recall, repaired, droppedVectors };
}
