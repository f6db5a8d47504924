import { z } from "zod";
import { functionOption, optionsOf } from "./options.js";
import type { CallOptions } from "./ports.js";

/** A signal of another realm or library is as good as this one's. */
export const abortSignal = z.custom<AbortSignal>(
  (value) => typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
  "must be an AbortSignal, such as the signal of an AbortController",
);

/** The options that every call that leaves this process takes. */
export const callOptions = optionsOf<CallOptions>()({
  signal: abortSignal.optional(),
  // Infinity is a deadline too: none.
  deadlineMs: z
    .custom<number>((value) => typeof value === "number" && !Number.isNaN(value), "must be a number of milliseconds")
    .optional(),
  onFailedAttempt: functionOption<NonNullable<CallOptions["onFailedAttempt"]>>().optional(),
});
