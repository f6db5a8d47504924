import { setMaxListeners } from "node:events";
import { z } from "zod";
import { functionOption, optionsOf } from "./options.js";
import type { CallOptions } from "./ports.js";

/** Accepts signals of other realms and libraries too. */
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

/** A run's own signal, which aborts as the caller's does. */
export interface OwnSignal {
  readonly signal: AbortSignal;
  /** Lets go of the caller's signal; with a reason, aborts what still listens to the run's own. */
  readonly end: (reason?: unknown) => void;
}

/**
 * A signal for one run. Every call under way listens to it, and Node warns of a leak from the eleventh listener on; the
 * caller's own signal carries one listener, until the end.
 */
export function ownSignal(given: AbortSignal | undefined): OwnSignal {
  const controller = new AbortController();
  const { signal } = controller;
  setMaxListeners(0, signal);
  const follow = () => controller.abort(given?.reason);
  if (given?.aborted) follow();
  else given?.addEventListener("abort", follow, { once: true });
  return {
    signal,
    end: (reason) => {
      given?.removeEventListener("abort", follow);
      if (reason !== undefined) controller.abort(reason);
    },
  };
}
