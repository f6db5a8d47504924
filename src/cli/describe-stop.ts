import type { IngestProgress } from "../stages/ingest-ledger.js";
import { counted } from "./counted.js";

/** What a run that did not come to its end leaves behind, and how to go on. */
export function describeStop({ documentsDone, chunksEmbedded }: Partial<IngestProgress> = {}): string {
  if (!documentsDone && !chunksEmbedded) {
    return "Stopped before anything was done. Run the same command again to begin.\n";
  }
  return (
    `Stopped with ${counted(documentsDone ?? 0, "document")} done and ` +
    `${counted(chunksEmbedded ?? 0, "chunk")} embedded; they are kept. Run the same command again to go on.\n`
  );
}

/** Whether something was done that a run that ends early leaves behind. */
export function leavesSomething({ documentsDone, chunksEmbedded }: Partial<IngestProgress> = {}): boolean {
  return Boolean(documentsDone || chunksEmbedded);
}
