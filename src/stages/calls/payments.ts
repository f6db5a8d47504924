import { z } from "zod";

/** Admits calls while the token budget lasts. */
export interface Budget {
  /** Maximum tokens of all calls together. Default: no limit. */
  readonly maxTokens?: number;
  /**
   * Reserves what a call of `tokens` tokens by our count will cost. Each charge is settled once, whatever becomes of the call.
   *
   * @throws BudgetError when it does not fit any more: the call must not be made.
   */
  readonly reserve: (tokens: number) => Promise<Charge>;
}

/** Tokens that are reserved for a call. */
export interface Charge {
  /**
   * Ends the reservation with what the call came to: the tokens that the service counted, which may be missing in a reply,
   * or the error in place of a reply.
   */
  readonly settle: (
    result:
      | {
          /** Tokens that the service counted; absent if it reported no count. */
          readonly tokens?: number | undefined;
        }
      | {
          /** The error that the call ended with. */
          readonly error: unknown;
        },
  ) => void;
}

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
