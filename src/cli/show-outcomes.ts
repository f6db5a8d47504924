import type { IngestProgress, IngestReport } from "../stages/ingest-ledger.js";
import { inCommandWords } from "./command-words.js";
import { count } from "./counted.js";
import { displayReason, displayRemark, oneLine } from "./terminal-text.js";

const mostListed = 20;

/** `3 added, 1 failed`. */
export function describeOutcomes(documents: IngestReport["documents"]): string {
  const outcomes = (["added", "updated", "unchanged", "deleted", "failed"] as const)
    .filter((outcome) => documents[outcome] > 0)
    .map((outcome) => `${count(documents[outcome])} ${outcome}`);
  return outcomes.join(", ") || "none";
}

/** `, 3 unfinished, others not read yet`: of a run that a budget ended, what of its documents came to nothing. */
export function describeUnfinished({ stopped }: Pick<IngestReport, "stopped">, progress?: IngestProgress): string {
  if (!stopped) return "";
  const { documentsFound = 0, documentsRead = 0 } = progress ?? {};
  return `, ${count(stopped.unfinished)} unfinished${documentsFound > documentsRead ? ", others not read yet" : ""}`;
}

/** Lines that name what was read in part, what was passed over and what failed, each with its reason; the first twenty of each. */
export function listLeftOut(
  { skipped, failures, warnings }: Pick<IngestReport, "skipped" | "failures" | "warnings">,
  directory: string,
): string[] {
  return [
    ...listed(
      "Remarks",
      warnings.map((message) => displayRemark(message, directory)),
    ),
    ...listed(
      "Skipped",
      skipped.map(({ uri, reason }) => displayReason(uri, reason, directory)),
    ),
    ...listed(
      "Failed",
      failures.map(({ uri, error }) => displayReason(uri, error.message, directory)),
    ),
  ];
}

/** An `Error` has no fields that JSON would keep. */
export function failuresAsJson(failures: IngestReport["failures"]): object[] {
  return failures.map(({ uri, error }) => ({ uri, error: inCommandWords(error.message) }));
}

/** `, costs 0.0123`: four digits, as many as a price has. */
export function describeCost(cost: number | undefined): string {
  return cost === undefined
    ? ""
    : `, cost ${Number(cost.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 12 })}`;
}

function listed(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const shown = items.slice(0, mostListed).map((item) => `  ${oneLine(item, 200)}`);
  const more = items.length > mostListed ? [`  and ${count(items.length - mostListed)} more`] : [];
  return [`${title}    ${count(items.length)}`, ...shown, ...more];
}
