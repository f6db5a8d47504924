import { z } from "zod";
import type { TokenCounter } from "../core/ports.js";

/** A token counter as an option. */
export const Counter = z.custom<TokenCounter>(
  (value) => typeof (value as { readonly count?: unknown } | null)?.count === "function",
  "must be a TokenCounter",
);
