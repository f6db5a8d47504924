import type { Ranking } from "../top-k.js";

/** What the graph's thread starts with. */
export interface GraphStart {
  readonly databasePath: string;
  readonly folder: string;
  /** Id of the store: graphs of another one are not ours. */
  readonly store: string;
  readonly m?: number;
  readonly efConstruction?: number;
  readonly ef?: number;
  /** Module to load in place of the native one. */
  readonly graphModule?: string;
  /** Shared flags, see `flags`. */
  readonly flags: SharedArrayBuffer;
}

/** Indexes into the shared flags. */
export const flags = {
  /** Set by the main thread when the process ends: the graph's thread must not go into native code again. */
  stop: 0,
  /** Set by the graph's thread while it is in native code: a process that ends then is aborted by the library. */
  inNativeCode: 1,
} as const;

export type GraphTask =
  /** The `count` nearest of all that is committed. */
  | { readonly task: "search"; readonly vector: Float32Array<ArrayBuffer>; readonly count: number }
  /** Done when the graph holds all that is committed. */
  | { readonly task: "settle" }
  /** Done when what the graph holds is on disk. */
  | { readonly task: "save" }
  | { readonly task: "close" };

export type ToGraph = (GraphTask & { readonly id: number }) | { readonly task: "follow" };

export type FromGraph =
  | { readonly event: "ready" }
  | { readonly event: "unavailable"; readonly reason: string }
  | { readonly event: "warning"; readonly message: string }
  /** So much has been inserted since the last save that losing it would cost. */
  | { readonly event: "unsaved" }
  | { readonly event: "done"; readonly id: number; readonly ranking?: Ranking }
  | { readonly event: "failed"; readonly id: number; readonly error: Error };
