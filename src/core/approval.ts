/** A call of a tool that waits for a decision. */
export interface WaitingCall {
  /** The decision names the call by this id, which no other call ever has. */
  readonly approvalId: string;
  /** Id of the call, as its `tool-call` event has it; other answers may have calls of the same id. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments as the tool's schema returned them, in JSON; as the model wrote them where JSON would lose a part of that. */
  readonly input: unknown;
  /** Whether the model had read text that is not the user's; see `ApprovalRequest`. */
  readonly untrusted: boolean;
}

/**
 * An answer that waits for decisions, as plain JSON: any process that has it can resume it. Keep it where users cannot
 * change it, since it holds the calls that are run and the text of the sources.
 */
export interface WaitingAnswer {
  /** Calls to be decided together, at least one. */
  readonly calls: readonly WaitingCall[];
  /** Everything found, said and done so far, in an internal format. */
  readonly state: unknown;
  /** Scope of the question; the answer can be resumed only in it. Absent: none. */
  readonly scope?: string;
}

/** Decisions by `approvalId`; true lets the call run. */
export type Approvals = Readonly<Record<string, boolean>>;

/** A decision as it was recorded. */
export interface Decision {
  /** Whether the call was allowed to run. */
  readonly approved: boolean;
  /** Time of the decision, in milliseconds since 1970. */
  readonly decidedAtMs: number;
  /** Outcome of the call, in JSON. Absent while the call runs, and for good if its process ended meanwhile. */
  readonly outcome?: string;
  /** True when the answer is finished and nothing is left to resume. */
  readonly ended?: boolean;
}

/** Remembers decisions, so that each is used once across all processes. */
export interface ApprovalBook {
  /** Records these decisions, on disk. Returns false if one of the calls was decided before; nothing is recorded then. */
  readonly decide: (approvals: Approvals) => boolean | Promise<boolean>;
  /** Records the outcome of a call. */
  readonly record: (approvalId: string, outcome: string) => void | Promise<void>;
  /** The decisions on these calls; those without one are left out. */
  readonly decisions: (
    approvalIds: readonly string[],
  ) => ReadonlyMap<string, Decision> | Promise<ReadonlyMap<string, Decision>>;
  /** Called when the answer with these calls is finished, so that their outcomes can be forgotten. */
  readonly end?: (approvalIds: readonly string[]) => void | Promise<void>;
}
