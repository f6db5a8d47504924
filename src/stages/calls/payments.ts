import { z } from "zod";
import type { Budget } from "../../core/ports.js";

/** Spending of one run: the budget of all its stages that embed, and the vectors that it has paid for. */
export interface Payments extends Budget {
  /**
   * Vectors of these keys that are stored by now. Asked right before a request is paid for: another run may have stored
   * them since they were looked up.
   */
  readonly stored: (keys: readonly string[]) => Promise<ReadonlyMap<string, Float32Array>>;
  /** Notes vectors that have arrived, by `vectorKey(chunk)`, so that none is lost while it waits to be written. */
  readonly landed: (vectors: ReadonlyMap<string, Float32Array>) => void;
}

export const paymentsOption = z
  .custom<Payments>(isPayments, { error: "must be the payments that ingest hands to a pipeline" })
  .optional();

function isPayments(value: unknown): boolean {
  return typeof value === "object" && value !== null && "reserve" in value && "landed" in value && "stored" in value;
}
