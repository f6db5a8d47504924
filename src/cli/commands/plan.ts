import { StoreError } from "../../core/errors.js";
import type { IngestPlan } from "../../knowledge-base/plan.js";
import { explainStop, print, withKnowledgeBase, withTemporaryFolder, type CommandIo } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { count, counted } from "../output/figures.js";
import { describeOutcomes, describeSpending, listLeftOut, reportAsJson } from "../output/ingest-report.js";
import { progressLine } from "../output/progress.js";
import type { KnownFolders } from "../output/terminal-text.js";
import { withPictures } from "../settings/picture-flags.js";
import { sourceOf, type SourceFlags } from "../settings/source-flags.js";

export async function planCommand(io: CommandIo, paths: readonly string[], flags: SourceFlags): Promise<number> {
  const { reread, retryFailed } = flags;
  const line = progressLine<{ readonly documentsRead: number }>(
    io.notes,
    ({ documentsRead }) => `${counted(documentsRead, "document")} read`,
  );
  const planning = withPictures(io, flags, (pictures) => {
    const source = sourceOf(io, paths, flags, pictures);
    return withStoreOrNone(io, flags, (kb, { price }) =>
      kb
        .plan(source, { signal: io.signal, onProgress: line.update, price, reread, retryFailed })
        .finally(() => line.clear()),
    );
  });
  const plan = await explainStop(io, "Stopped; nothing was sent or changed.\n", planning);
  print(io, flags, reportAsJson(plan), describePlan(plan, io));
  return plan.outcomes.failed > 0 ? exitCodes.failures : exitCodes.done;
}

/** Without a store, the plan is made for an empty one in a temporary folder, so that planning leaves nothing behind. */
async function withStoreOrNone(
  io: CommandIo,
  flags: SourceFlags,
  use: Parameters<typeof withKnowledgeBase<IngestPlan>>[3],
): Promise<IngestPlan> {
  try {
    return await withKnowledgeBase(io, flags, false, use);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "missing")) throw error;
  }
  return withTemporaryFolder("plan", (store) => withKnowledgeBase(io, { ...flags, store }, true, use));
}

function describePlan(plan: IngestPlan, folders: KnownFolders): string {
  const { outcomes, chunks, reused, pictures } = plan;
  const lines = [
    "Nothing was sent or changed. To index, run citewell index with the same arguments.",
    `Documents  ${describeOutcomes(outcomes)}`,
    `Chunks     ${count(chunks)} (${count(chunks - reused)} to embed, ${count(reused)} reused)`,
    `Upstream   ${describeSpending(plan)}`,
    ...(pictures ? [describePictures(pictures)] : []),
    ...listLeftOut(plan, folders),
  ];
  return `${lines.join("\n")}\n`;
}

function describePictures({
  described,
  reused,
  requestTokens,
  maxReplyTokens,
}: NonNullable<IngestPlan["pictures"]>): string {
  const known = `${count(described)} to describe, ${count(reused)} described before`;
  if (described === 0) return `Pictures   ${known}`;
  return (
    `Pictures   ${known}: about ${counted(requestTokens, "token")} in requests, estimated by the sizes of the pictures, and ` +
    `at most ${counted(maxReplyTokens, "token")} in replies. The chunks lack their words`
  );
}
