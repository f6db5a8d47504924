/** One request, told when its answer is over. */
export interface RequestLog {
  /** When it came in: ISO 8601, on the wall clock. */
  readonly time: string;
  readonly method: string;
  /** Without its query, which may carry a link's secret. */
  readonly path: string;
  /** 0 when the connection broke before there was one. */
  readonly status: number;
  readonly milliseconds: number;
  /** Whether the caller went away before the end. */
  readonly aborted: boolean;
}
