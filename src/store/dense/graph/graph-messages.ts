import type { LabelBits } from "../../derived/allowed-labels.js";
import type { Ranking } from "../../derived/top-k.js";

/** How a graph keeps vectors, see `StoreOptions`. */
export type Quantization = "none" | "int8" | "int4";

/** Start data of the graph's thread. */
export interface GraphStart {
  readonly databasePath: string;
  readonly folder: string;
  /** Id of the store: graphs of another store are not used. */
  readonly store: string;
  readonly quantization: Quantization;
  /** Parameters that the caller chose. */
  readonly m?: number | undefined;
  readonly efConstruction?: number | undefined;
  readonly ef?: number | undefined;
  /** Module to load in place of the native one. */
  readonly graphModule: string | undefined;
  /** See `sharedFlags`. */
  readonly flags: SharedArrayBuffer;
}

export type GraphCalls = {
  /** The `count` nearest of everything committed and allowed. */
  readonly search: {
    readonly argument: {
      readonly vector: Float32Array<ArrayBuffer>;
      readonly count: number;
      readonly allowed: LabelBits | undefined;
    };
    readonly result: Ranking;
  };
  /** Answered when the graph holds everything committed. */
  readonly catchUp: { readonly argument: undefined; readonly result: void };
  /** Answered when the graph is on disk. */
  readonly save: { readonly argument: undefined; readonly result: void };
  readonly close: { readonly argument: undefined; readonly result: void };
};

/** Tells the graph's thread, without an answer, that there is something new to catch up with. */
export const prepareMessage = { prepare: true } as const;

export function isPrepare(message: unknown): boolean {
  return typeof message === "object" && message !== null && "prepare" in message;
}

/** Messages that the graph's thread sends unasked. */
export type GraphEvent =
  | { readonly event: "ready" }
  | { readonly event: "unavailable"; readonly reason: string }
  | { readonly event: "warning"; readonly message: string }
  /** So much is unsaved that losing it would be costly. */
  | { readonly event: "unsaved" };
