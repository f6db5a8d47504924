/** A span that is open. */
export interface OpenSpan {
  /** Does work within the span, so that what it opens stands below it. */
  readonly within: <T>(work: () => T) => T;
  /** Work began: what came before is not the span's. Until then, and without work within it, there is no span. */
  readonly start: () => void;
  /** Ends the span. */
  readonly end: (how?: {
    /** Moment of the end, as `performance.now()` counts. Default: now. */
    readonly endedAt?: number;
    /** Error that was thrown, if it is the span's own failure. */
    readonly failure?: unknown;
  }) => void;
}

/** Attributes of a span: names and numbers, never texts. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Opens the spans of one run. */
export interface Tracing {
  /** One below the run's own. */
  readonly stage: (name: string) => OpenSpan;
  /** One below the span that is being worked in. */
  readonly step: (name: string, attributes: SpanAttributes) => OpenSpan;
}
