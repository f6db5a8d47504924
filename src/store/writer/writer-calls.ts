import type { WrittenDocument } from "../../ports.js";
import type { SentWrite } from "./sent-write.js";

/** What the writer's thread starts with. */
export interface WriterStart {
  /** Folder that the caller named, and which of the stores in it this is. */
  readonly location: string;
  readonly generation: string;
  readonly databasePath: string;
  readonly folder: string;
  readonly space: string;
  /** Length of the vectors, where it is known before the first. */
  readonly dimension?: number;
}

export type WriterCalls = {
  readonly write: { readonly takes: SentWrite; readonly gives: readonly WrittenDocument[] };
  readonly deleteDocuments: {
    readonly takes: readonly string[];
    readonly gives: { readonly documents: number; readonly chunks: number };
  };
  /** Whether the right to write is ours now. */
  readonly tryLock: { readonly takes: undefined; readonly gives: boolean };
  readonly close: { readonly takes: undefined; readonly gives: void };
};
