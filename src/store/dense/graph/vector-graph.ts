import type { Allowed } from "../../derived/allowed-labels.js";
import type { Ranking } from "../../derived/top-k.js";
import type { GraphFacts } from "./graph-file.js";

export interface GraphParameters {
  readonly m: number;
  readonly efConstruction: number;
  readonly ef: number;
}

export interface SavedGraph extends GraphParameters {
  readonly dimension: number;
  readonly count: number;
  readonly deleted: number;
  readonly lastLabel: number;
}

/** A graph of vectors of length 1, which is searched by cosine. */
export interface VectorGraph {
  readonly dimension: number;
  /** Number of vectors, including deleted ones. */
  readonly count: number;
  readonly deleted: number;
  /** The facts that reading it needs. */
  readonly saved: SavedGraph;
  /** Sets how many candidates a search looks at. */
  readonly setEf: (ef: number) => void;
  /** Labels must ascend, so that none is added twice. */
  readonly add: (label: number, vector: Float32Array) => void;
  /** Hides a label from all later searches. Returns false if it was not there. */
  readonly remove: (label: number) => boolean;
  /** The `count` nearest, best first; fewer when there are fewer. */
  readonly search: (vector: Float32Array, count: number, ef?: number) => Ranking;
  /** Compares all allowed. Missing where the graph does not keep vectors in a form that can be compared. */
  readonly scan?: (vector: Float32Array, count: number, allowed: Allowed) => Ranking;
  /** Ends what additions have left to do. */
  readonly settle: () => Promise<void>;
  /** Writes a new file. Searches may go on meanwhile, additions and removals may not. */
  readonly write: (path: string) => Promise<void>;
  /** Resolves when no thread works on it any longer. */
  readonly close: () => Promise<void>;
}

/** A kind of graph. */
export interface GraphEngine {
  /** Format of its saved files. */
  readonly format: GraphFacts["format"];
  /** Another format that `read` takes, too. What it reads is to be saved again. */
  readonly alsoReads?: GraphFacts["format"] | undefined;
  /**
   * Minimum number of extra candidates to fetch, where scores only approximate the cosine and the best are compared
   * again; 0 where scores are exact.
   */
  readonly extraCandidates: number;
  /** Number of vectors that can be compared one by one while the graph finds one. */
  readonly comparisonsPerResult: number;
  readonly create: (dimension: number, parameters: GraphParameters) => VectorGraph;
  /** Whether `read` checks the bytes as it reads them. Where it does not, the caller checks the file before. */
  readonly readChecks: boolean;
  /** Reads what `write` wrote. @throws where the file holds another graph, or bytes that `readChecks` finds to have another checksum. */
  readonly read: (path: string, facts: GraphFacts, sha256: string) => Promise<VectorGraph>;
  /** @throws unless the file holds a whole graph. */
  readonly check: (path: string, saved: SavedGraph) => Promise<void>;
}
