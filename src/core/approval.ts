/** A call of a tool that waits for a decision. */
export interface WaitingCall {
  /** The decision names the call by this id, which no other call ever has. */
  readonly approvalId: string;
  /** Id of the call, as its `tool-call` event has it; other answers may have calls of the same id. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments as the tool's schema returned them, in JSON. */
  readonly input: unknown;
  /** Whether the model had read text that is not the user's; see `ApprovalRequest`. */
  readonly untrusted: boolean;
}

/**
 * An answer that waits for decisions, as plain JSON: any process that has it can go on with it. Keep it where users cannot
 * change it, since it holds the calls that are run and the text of the sources.
 */
export interface WaitingAnswer {
  /** At least one. They are decided together. */
  readonly calls: readonly WaitingCall[];
  /** What has been found, said and done so far, in a form of its own. */
  readonly state: unknown;
  /** The scope in which the question was asked, and in which alone it can be resumed. Absent: none. */
  readonly scope?: string;
}

/** Decisions by `approvalId`; true lets the call run. */
export type Approvals = Readonly<Record<string, boolean>>;

/** A decision as it was recorded. */
export interface Decision {
  /** Whether the call might run. */
  readonly approved: boolean;
  /** In milliseconds since 1970. */
  readonly decidedAtMs: number;
  /** What became of the call, in JSON. Absent while it runs, and for good if its process ended meanwhile. */
  readonly outcome?: string;
  /** True when the answer has come to its end, so that nothing is left to resume. */
  readonly ended?: boolean;
}

/** Remembers decisions, so that each is used once, by whatever process. */
export interface ApprovalBook {
  /** Records these decisions, on disk. Returns false if one of the calls was decided before; nothing is recorded then. */
  readonly decide: (approvals: Approvals) => boolean | Promise<boolean>;
  /** Records what became of a call. */
  readonly record: (approvalId: string, outcome: string) => void | Promise<void>;
  /** The decisions on these calls; those without one are left out. */
  readonly decisions: (
    approvalIds: readonly string[],
  ) => ReadonlyMap<string, Decision> | Promise<ReadonlyMap<string, Decision>>;
  /** Hears that the answer with these calls has come to its end, so that their outcomes can be forgotten. */
  readonly end?: (approvalIds: readonly string[]) => void | Promise<void>;
}
