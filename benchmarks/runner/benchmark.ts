/** The numbers that say how much work a benchmark does, such as `{ chunks: 10000 }`. `--size chunks=100000` changes one. */
export type Size = Readonly<Record<string, number>>;

/** Measurements of one run, by the names of `Benchmark.measures`. A contender leaves out those that it cannot make. */
export type Measures = Readonly<Record<string, number>>;

export interface Measure {
  readonly unit: string;
  readonly better: "lower" | "higher";
}

/** One of those that do the same work. */
export interface Contender<Subject> {
  readonly name: string;
  /** This library, a library that people take instead, or the least that any program must do on this machine. */
  readonly kind: "citewell" | "peer" | "limit";
  /** Packages whose versions belong to the result; where one is not installed, the contender is skipped. */
  readonly packages?: readonly string[];
  /** The sentence that says what else is not installed here, so that the contender is skipped. Default: nothing is missing. */
  readonly missing?: string;
  /** Loads what is measured. Is not measured itself. */
  readonly load: () => Promise<Subject>;
}

export interface Aim {
  readonly contender: string;
  /** The worst of several measures counts. */
  readonly measure: string | readonly string[];
  /** The contender that the ratio is made to. Default: none, so that the value itself is meant. */
  readonly beside?: string;
  /** The contender whose value is taken away, where no ratio is meant. */
  readonly less?: string;
  /** True: the power of size by which the measure grows over the sizes up to that of the contender is meant. */
  readonly exponent?: true;
  /** The share of several measures that have to reach the aim, 0 to 1. Default: 1. */
  readonly share?: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** The command asks for what is not there. Its message is all that has to be said. */
export class MisuseError extends Error {}

/** A text of the corpus that is measured with. */
export interface CorpusDocument {
  readonly uri: string;
  readonly text: string;
}

export interface RunContext<Given> {
  readonly size: Size;
  /** The folder of documents named by `--corpus`, or the benchmark's own. */
  readonly corpus: string;
  /** The result of `prepare`. */
  readonly given: Given;
  /** Does what is measured: adds its wall time and its CPU time, with that of its child processes, to the run. */
  readonly timed: <Result>(work: () => Result | Promise<Result>) => Promise<Timed<Result>>;
}

export interface Timed<Result> {
  readonly result: Result;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

/** Set-up that the starting process makes once for all contenders, and removes at the end. */
export interface Prepared<Given> {
  /** Is sent to the processes of the contenders, so it can hold data alone, no functions. */
  readonly given: Given;
  readonly close?: () => Promise<void> | void;
}

/** One question that figures answer. A module in `benchmarks` exports it as `benchmark`. */
export interface Benchmark<Subject = unknown, Given = undefined> {
  readonly name: string;
  readonly question: string;
  /** Data, warm-up, and what could mislead, in a few sentences. They stand above the table of figures. */
  readonly method: string;
  readonly contenders: readonly Contender<Subject>[];
  /** The contender that all ratios are made to. */
  readonly beside: string;
  readonly measures: Readonly<Record<string, Measure>>;
  /** Where contenders are sizes: how large each is, so that exponents of growth are shown. In order. */
  readonly scale?: Readonly<Record<string, number>>;
  readonly sizes: { readonly smoke: Size; readonly usual: Size };
  /** Runs of each contender. Default: 5; 1 where every run gives the same. */
  readonly rounds?: number;
  readonly aims?: readonly Aim[];
  /** The kind of folder that it reads. Default: none. */
  readonly corpus?: "markdown" | "collection" | "store";
  /** The sentence that says why it cannot run here, or `undefined`. */
  readonly unavailable?: (corpus: string) => string | undefined;
  readonly prepare?: (size: Size, corpus: string) => Promise<Prepared<Given>>;
  /**
   * Does the work once, in a process of its own.
   *
   * @throws Error when the result of the work is wrong: a fast wrong answer is no figure.
   */
  readonly measure: (subject: Subject, context: RunContext<Given>) => Promise<Measures>;
}
