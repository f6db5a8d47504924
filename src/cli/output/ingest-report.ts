import type { IngestProgress, IngestReport } from "../../knowledge-base/ingest/ledger.js";
import { messageOf } from "./failure.js";
import { count, counted, duration } from "./figures.js";
import { displayReason, displayRemark, displayUri, oneLine, reasonAlone, type KnownFolders } from "./terminal-text.js";

const maxListed = 20;
const maxOfOneReason = 3;

/** A report for `--json`. Errors are written as text, because JSON would drop them. */
export function reportAsJson({ failures, ...report }: Pick<IngestReport, "failures">): object {
  return { ...report, failures: failures.map(({ uri, error }) => ({ uri, error: messageOf(error) })) };
}

/** Lines that say what a run did to the store and what it cost. */
export function describeReport(report: IngestReport, folders: KnownFolders, progress?: IngestProgress): string[] {
  const { documents, chunks, seconds } = report;
  return [
    `Documents  ${describeOutcomes(documents)}${describeUnfinished(report, progress)}`,
    `Chunks     ${count(chunks.total)} (${count(chunks.embedded)} embedded, ${count(chunks.reused)} reused)` +
      (chunks.deleted > 0 ? `, ${counted(chunks.deleted, "old one")} deleted` : ""),
    `Upstream   ${describeSpending(report)}, ${duration(seconds)}`,
    ...describePictures(report),
    ...describeLeftOut(report, folders),
    ...listLeftOut(report, folders),
  ];
}

function describePictures({ pictures }: Pick<IngestReport, "pictures">): string[] {
  if (!pictures) return [];
  const { described, reused, tokens } = pictures;
  const spent = tokens > 0 ? `, ${counted(tokens, "token")}` : "";
  return [`Pictures   ${count(described)} described, ${count(reused)} described before${spent}`];
}

/** `Left out   earlier mails at 3 places of 2 documents: see citewell read a.eml`, a line for each kind of text. */
export function describeLeftOut({ leftOut = [] }: Pick<IngestReport, "leftOut">, folders: KnownFolders): string[] {
  return leftOut.map(
    ({ what, count: places, documents, uri }) =>
      `Left out   ${what} at ${counted(places, "place")} of ${counted(documents, "document")}: see citewell read ${displayUri(uri, folders)}`,
  );
}

/** `3 added, 1 failed`. */
export function describeOutcomes(documents: IngestReport["documents"]): string {
  const outcomes = (["added", "updated", "unchanged", "deleted", "failed"] as const)
    .filter((outcome) => documents[outcome] > 0)
    .map((outcome) => `${count(documents[outcome])} ${outcome}`);
  return outcomes.join(", ") || "none";
}

/** `, 3 unfinished, others not read yet` when a budget ended the run. */
function describeUnfinished({ stopped }: Pick<IngestReport, "stopped">, progress?: IngestProgress): string {
  if (!stopped) return "";
  const { documentsFound = 0, documentsRead = 0 } = progress ?? {};
  return `, ${count(stopped.unfinished)} unfinished${documentsFound > documentsRead ? ", others not read yet" : ""}`;
}

/** `2 requests, 1,204 tokens, cost 0.0123`, with four digits of the cost, as many as a price has. */
export function describeSpending(run: Pick<IngestReport, "requests" | "tokens" | "cost">): string {
  const { requests, tokens, cost } = run;
  const price = cost && Number(cost.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 12 });
  return `${counted(requests, "request")}, ${counted(tokens, "token")}${price === undefined ? "" : `, cost ${price}`}`;
}

/** Lines that name what was read in part, skipped and failed, each with its reason: twenty of each, three of one reason. */
export function listLeftOut(
  { skipped, failures, warnings, notRetried }: Pick<IngestReport, "skipped" | "failures" | "warnings" | "notRetried">,
  folders: KnownFolders,
): string[] {
  return [
    ...listed(
      "Remarks",
      warnings.map((message) => ({ line: displayRemark(message, folders), reason: message })),
    ),
    ...listed("Skipped", skipped.map(leftOut)),
    ...listed(
      "Failed",
      failures.map(({ uri, error }) => leftOut({ uri, reason: messageOf(error) })),
    ),
    ...(notRetried
      ? [
          `  ${count(notRetried)} of them failed before and did not change, so they were not read again: add --retry-failed to try`,
        ]
      : []),
  ];

  function leftOut({ uri, reason }: { readonly uri: string; readonly reason: string }): ListedItem {
    return { line: displayReason(uri, reason, folders), reason: reasonAlone(uri, reason) };
  }
}

interface ListedItem {
  readonly line: string;
  /** Items of one reason are listed together. */
  readonly reason: string;
}

function listed(title: string, items: readonly ListedItem[]): string[] {
  if (items.length === 0) return [];
  const byReason = new Map<string, string[]>();
  for (const { line, reason } of items) byReason.set(reason, [...(byReason.get(reason) ?? []), line]);
  const lines = [...byReason.values()].flatMap((group) => {
    // A line that says "1 more" would take as much room as the one that it hides.
    const shown = group.slice(0, group.length > maxOfOneReason + 1 ? maxOfOneReason : group.length);
    const hidden = group.length - shown.length;
    return [
      ...shown.map((line) => ({ text: oneLine(line, 200), items: 1 })),
      ...(hidden > 0 ? [{ text: `and ${count(hidden)} more: same reason`, items: hidden }] : []),
    ];
  });
  const left = lines.slice(maxListed).reduce((sum, line) => sum + line.items, 0);
  const texts = [
    ...lines.slice(0, maxListed).map(({ text }) => text),
    ...(left > 0 ? [`and ${count(left)} more`] : []),
  ];
  return [`${title}    ${count(items.length)}`, ...texts.map((text) => `  ${text}`)];
}

/** Describes the work that an interrupted run has saved, and how to go on. */
export function describeStop({ documentsDone, chunksEmbedded }: Partial<IngestProgress> = {}): string {
  if (!documentsDone && !chunksEmbedded) {
    return "Stopped before anything was done. Run the same command again to begin.\n";
  }
  return (
    `Stopped with ${counted(documentsDone ?? 0, "document")} done and ` +
    `${counted(chunksEmbedded ?? 0, "chunk")} embedded; they are kept. Run the same command again to go on.\n`
  );
}

/** Whether a run that ended early has saved anything. */
export function leavesSomething({ documentsDone, chunksEmbedded }: Partial<IngestProgress> = {}): boolean {
  return Boolean(documentsDone || chunksEmbedded);
}
