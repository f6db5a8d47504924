import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreError } from "../errors.js";
import type { IngestPlan } from "../knowledge-base-options.js";
import { withKnowledgeBase, type World } from "./command-context.js";
import { exitCodes } from "./failure.js";
import { count, counted } from "./counted.js";
import { progressLine } from "./progress-line.js";
import { describeCost, describeOutcomes, failuresAsJson, listLeftOut } from "./show-outcomes.js";
import { sourceOf, type SourceFlags } from "./source-flags.js";

export interface PlanFlags extends SourceFlags {}

export async function planCommand(world: World, paths: readonly string[], flags: PlanFlags): Promise<number> {
  const source = sourceOf(world, paths, flags);
  const line = progressLine<{ readonly documentsRead: number }>(
    world.stderr,
    ({ documentsRead }) => `${counted(documentsRead, "document")} read`,
  );
  const plan = await withStoreOrNone(world, flags, (kb, { price }) =>
    kb
      .plan(source, { signal: world.signal, onProgress: line.update, ...(price !== undefined && { price }) })
      .finally(() => line.clear()),
  ).catch((error: unknown) => {
    if (world.signal.aborted) world.stderr.write("Stopped; nothing was sent or changed.\n");
    throw error;
  });
  if (flags.json) world.stdout.write(`${JSON.stringify({ ...plan, failures: failuresAsJson(plan.failures) })}\n`);
  else world.stdout.write(describePlan(plan, world.directory));
  return plan.outcomes.failed > 0 ? exitCodes.failures : exitCodes.done;
}

/** A plan leaves nothing behind, even when it is killed: where there is no store, it is made for an empty one elsewhere. */
async function withStoreOrNone(
  world: World,
  flags: PlanFlags,
  use: Parameters<typeof withKnowledgeBase<IngestPlan>>[3],
): Promise<IngestPlan> {
  try {
    return await withKnowledgeBase(world, flags, false, use);
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "missing")) throw error;
  }
  const elsewhere = mkdtempSync(join(tmpdir(), "citewell-plan-"));
  try {
    return await withKnowledgeBase(world, { ...flags, store: elsewhere }, true, use);
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
}

function describePlan(plan: IngestPlan, directory: string): string {
  const { outcomes, chunks, reused, requests, tokens, cost } = plan;
  const lines = [
    `Nothing was sent or changed. To do it: citewell index with the same words.`,
    `Documents  ${describeOutcomes(outcomes)}`,
    `Chunks     ${count(chunks)} (${count(chunks - reused)} to embed, ${count(reused)} reused)`,
    `Upstream   ${counted(requests, "request")}, ${counted(tokens, "token")}${describeCost(cost)}`,
    ...listLeftOut(plan, directory),
  ];
  return `${lines.join("\n")}\n`;
}
