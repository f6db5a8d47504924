import type { LabelBits } from "../allowed-labels.js";
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
  /** See `sharedFlags`. */
  readonly flags: SharedArrayBuffer;
}

export type GraphCalls = {
  /** The `count` nearest of all that is committed and allowed. */
  readonly search: {
    readonly takes: {
      readonly vector: Float32Array<ArrayBuffer>;
      readonly count: number;
      readonly allowed: LabelBits | undefined;
    };
    readonly gives: Ranking;
  };
  /** Answered when the graph holds all that is committed. */
  readonly settle: { readonly takes: undefined; readonly gives: void };
  /** Answered when what the graph holds is on disk. */
  readonly save: { readonly takes: undefined; readonly gives: void };
  readonly close: { readonly takes: undefined; readonly gives: void };
};

/** To the graph's thread, without an answer: there is something new to take over. */
export const followMessage = { follow: true } as const;

export function isFollow(message: unknown): boolean {
  return typeof message === "object" && message !== null && "follow" in message;
}

/** What the graph's thread says by itself. */
export type GraphEvent =
  | { readonly event: "ready" }
  | { readonly event: "unavailable"; readonly reason: string }
  | { readonly event: "warning"; readonly message: string }
  /** So much has been inserted since the last save that losing it would cost. */
  | { readonly event: "unsaved" };
