/**
 * Root of every error this library throws. `code` is stable and may be switched on; `message` is for people and says
 * what to do. An abort is never wrapped: it throws the caller's own `signal.reason`.
 */
export class CitewellError extends Error {
  /** Stable name of the case, one of the class's own codes. */
  readonly code: string;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }

  /** JSON form of the error: name, code and message, then the other fields of its class, without stack and cause. */
  toJSON(): Readonly<Record<string, unknown>> {
    return jsonOf(this);
  }
}

/** JSON form of an error: `JSON.stringify` alone would lose the message of a bare `Error`. */
function jsonOf(error: Error): Readonly<Record<string, unknown>> {
  const { name, message } = error;
  const {
    cause: _,
    stack: __,
    ...fields
  } = Object.fromEntries(Object.entries(error)) as Readonly<Record<string, unknown>>;
  const code = "code" in error ? { code: error.code } : {};
  const failures = fields["failures"];
  return {
    name,
    ...code,
    message,
    ...fields,
    ...(failures instanceof Map && {
      failures: Object.fromEntries(
        [...(failures as FailedDocumentsError["failures"])].map(([uri, failure]) => [uri, jsonOfAny(failure)]),
      ),
    }),
  };
}

/**
 * A failure or event whose error keeps its message in JSON, whatever its class.
 *
 * @internal
 */
export function withErrorInJson<
  const Value extends {
    /** The error, of this library or not. */
    readonly error: Error;
  },
>(value: Value): Value {
  const toJSON = () => ({ ...value, error: jsonOfAny(value.error) });
  return Object.defineProperty({ ...value }, "toJSON", { value: toJSON });
}

/** Other makers' errors may carry anything in their fields, such as the request with its key: only what says what happened. */
function jsonOfAny(error: Error): unknown {
  if (error instanceof CitewellError) return error;
  const { name, message } = error;
  return { name, ...("code" in error && { code: error.code }), message };
}

/** The cases of an `OptionsError`. */
export type OptionsErrorCode =
  /** A value is missing, unknown or out of range. */
  | "options"
  /** Two stages of a pipeline contradict each other. */
  | "facts"
  /** A configuration file or variable cannot be used. */
  | "config"
  /** A package that is installed on demand is missing. */
  | "missing-package";

export interface OptionsErrorDetails extends ErrorOptions {
  /** The function that refused its options. The message begins with it: `ingest: …`. */
  readonly call?: string;
  /** The option that the message names, and that the caller has to change. */
  readonly option?: string;
}

/** The caller wrote something that can never work: fix the code or the configuration. */
export class OptionsError extends CitewellError {
  /** Kind of mistake. */
  declare readonly code: OptionsErrorCode;
  /** The function that refused its options. The message begins with it: `ingest: …`. */
  readonly call: string | undefined;
  /** The option that the message names, and that the caller has to change. */
  readonly option: string | undefined;

  constructor(code: OptionsErrorCode, message: string, details: OptionsErrorDetails = {}) {
    const { call, option, ...options } = details;
    super(code, call === undefined ? message : `${call}: ${message}`, options);
    this.call = call;
    this.option = option;
  }
}

/** The cases of a `TransportError`. */
export type TransportErrorCode =
  /** The request breaks the contract; nothing was sent. */
  | "request"
  /** 401: the key is missing, wrong, or belongs to another data center. */
  | "unauthorized"
  /** 402 or 403: the account may not do this. */
  | "forbidden"
  /** The model is not one that the service publishes. */
  | "unsupported-model"
  /** 404: no such path or record. */
  | "not-found"
  /** 413: fewer or shorter inputs are needed. */
  | "too-large"
  /** The conversation is longer than the model's context. */
  | "context-length"
  /** Other 4xx: the service refused the request. */
  | "refused"
  /** 429 beyond the last retry. */
  | "rate-limited"
  /** 5xx beyond the last retry. */
  | "upstream"
  /** No connection, or it broke. */
  | "network"
  /** A deadline or an idle limit passed. */
  | "timeout"
  /** The reply is not what the contract or the request says it must be. */
  | "reply"
  /** A stream ended before it said it was finished. */
  | "truncated"
  /** May or may not have been carried out: never sent again. */
  | "ambiguous";

/** A request that may have been carried out, so that its trace can be found at the service. */
export interface Submission {
  /** Model that the request named. */
  readonly model: string;
  /** SHA-256 of the body as it was sent, in hexadecimal. */
  readonly fingerprint: string;
  /** Fields of the body beside model, content and callback address, as they were sent. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** It was sent between these moments. */
  readonly notBefore: Date;
  /** The latest moment at which it was sent. */
  readonly notAfter: Date;
}

export interface TransportErrorDetails extends ErrorOptions {
  /** Operation that failed: `embeddings`, `chat`, `createVideoTask` and so on. */
  readonly operation?: string;
  /** HTTP status of the last reply, if there was one. */
  readonly status?: number;
  /** The service's own code, as it wrote it. */
  readonly serviceCode?: string;
  /** Id that the service gave the request, for its support. */
  readonly requestId?: string;
  /** Times the request was sent. */
  readonly attempts?: number;
  /** Whether sending the same request later may work. */
  readonly retryable?: boolean;
  /** How long the service asked to wait. */
  readonly retryAfterMs?: number;
  /** Text of a stream that had arrived before it failed. */
  readonly partialText?: string;
  /** Describes what to look for before creating again, after an `ambiguous` creation. */
  readonly submission?: Submission;
  /** The video task that the call was about. */
  readonly taskId?: string;
  /** Maximum number of inputs in one request, where a `too-large` refusal named the number. */
  readonly maxBatchTexts?: number;
  /** Maximum tokens in one input or conversation, where a `too-large` or `context-length` refusal named the number. */
  readonly maxInputTokens?: number;
}

/** An upstream call failed. Carries all that the service said; never the key. */
export class TransportError extends CitewellError {
  /** Kind of failure. */
  declare readonly code: TransportErrorCode;
  /** Operation that failed: `embeddings`, `chat`, `createVideoTask` and so on. */
  readonly operation: string | undefined;
  /** HTTP status of the last reply, if there was one. */
  readonly status: number | undefined;
  /** The service's own code, as it wrote it. */
  readonly serviceCode: string | undefined;
  /** Id that the service gave the request, for its support. */
  readonly requestId: string | undefined;
  /** Times the request was sent; 0 when nothing was. */
  readonly attempts: number;
  /** Whether sending the same request later may work. */
  readonly retryable: boolean;
  /** Milliseconds that the service asked to wait, if it did. */
  readonly retryAfterMs: number | undefined;
  /** Text of a stream that had arrived before it failed. */
  readonly partialText: string | undefined;
  /** Describes what to look for before creating again, after an `ambiguous` creation. */
  readonly submission: Submission | undefined;
  /** The video task that the call was about. */
  readonly taskId: string | undefined;
  /** Maximum number of inputs in one request, where a `too-large` refusal named the number. */
  readonly maxBatchTexts: number | undefined;
  /** Maximum tokens in one input or conversation, where a `too-large` or `context-length` refusal named the number. */
  readonly maxInputTokens: number | undefined;

  constructor(code: TransportErrorCode, message: string, details: TransportErrorDetails = {}) {
    super(code, message, details.cause === undefined ? {} : { cause: details.cause });
    this.operation = details.operation;
    this.status = details.status;
    this.serviceCode = details.serviceCode;
    this.requestId = details.requestId;
    this.attempts = details.attempts ?? 0;
    this.retryable = details.retryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.partialText = details.partialText;
    this.submission = details.submission;
    this.taskId = details.taskId;
    this.maxBatchTexts = details.maxBatchTexts;
    this.maxInputTokens = details.maxInputTokens;
  }
}

/** The cases of a `StoreError`. */
export type StoreErrorCode =
  /** There is no store at this path. */
  | "missing"
  /** The store holds vectors of another model. */
  | "space"
  /** A vector has another length than the store's. */
  | "dimension"
  /** A vector has a component that is not a finite number, or no direction. */
  | "vector"
  /** Written by a newer version. */
  | "version"
  /** Another process is writing. */
  | "locked"
  /** A file has changed since it was written. */
  | "damaged"
  /** The system refused to read or write: the disk is full, the folder is read-only, or a file went away. */
  | "disk"
  /** The store's server cannot be reached, does not let the user in, or did not answer within the deadline. */
  | "unavailable"
  /** The store shows nothing without a scope: use `scoped(filter)`. */
  | "scope"
  /** More searches wait for the readers than may: ask again in a moment. */
  | "busy"
  /** Used after `close()`, a thread of it has ended, or it was migrated meanwhile: open it again. */
  | "closed";

/** The store cannot do what was asked. Nothing was changed by the call that threw it. */
export class StoreError extends CitewellError {
  /** Kind of failure. */
  declare readonly code: StoreErrorCode;
  /** Folder or file of the store that the message is about. */
  readonly path: string | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    details: ErrorOptions & {
      /** Folder or file of the store that the message is about. */
      readonly path?: string;
    } = {},
  ) {
    super(code, message, details.cause === undefined ? {} : { cause: details.cause });
    this.path = details.path;
  }
}

/** The cases of a `LoadError`. */
export type LoadErrorCode =
  /** No such file or folder. */
  | "missing"
  /** There was nothing to read in it. */
  | "empty"
  /** The bytes are not text. */
  | "binary"
  /** No loader for this kind of file. */
  | "unsupported"
  /** The file system or a parser refused it. */
  | "unreadable"
  /** A line does not fit the file's format. */
  | "malformed"
  /** Larger than the limit. */
  | "too-large"
  /** Took longer than the limit. */
  | "timeout";

/** One file or folder cannot be turned into documents. */
export class LoadError extends CitewellError {
  /** Why it cannot be read. */
  declare readonly code: LoadErrorCode;
  /** Address of the document, or path of the file or folder. */
  readonly uri: string;
  /** The option that the message names: with another value of it, the document can be read. */
  readonly option: string | undefined;

  constructor(
    code: LoadErrorCode,
    uri: string,
    message: string,
    {
      option,
      ...options
    }: ErrorOptions & {
      /** The option that the message names: with another value of it, the document can be read. */
      readonly option?: string;
    } = {},
  ) {
    super(code, message, options);
    this.uri = uri;
    this.option = option;
  }
}

/** The cases of an `AnswerError`. */
export type AnswerErrorCode =
  /** Question and instructions leave no room in the model's context. */
  | "question-too-long"
  /** All output tokens went into thinking. */
  | "thinking-budget"
  /** The service withheld the answer. */
  | "content-filter"
  /** The reply does not fit the schema, also after the model was shown what is wrong with it. `text` has it. */
  | "schema"
  /** A call that waited for approval was decided before, here or in another process. Nothing was run again. */
  | "decided";

/** The question cannot be answered in this form. */
export class AnswerError extends CitewellError {
  /** Why there is no answer. */
  declare readonly code: AnswerErrorCode;
  /** The model's reply, if it cannot be used. */
  readonly text: string | undefined;

  constructor(
    code: AnswerErrorCode,
    message: string,
    options: ErrorOptions & {
      /** The model's reply, if it cannot be used. */
      readonly text?: string;
    } = {},
  ) {
    super(code, message, options.cause === undefined ? {} : { cause: options.cause });
    this.text = options.text;
  }
}

/**
 * The next request would pass the caller's budget. Everything paid for so far is kept; a run with a larger budget
 * resumes there.
 */
export class BudgetError extends CitewellError {
  /** The budget that the next request would have passed, in tokens. */
  readonly maxTokens: number;

  constructor(
    message: string,
    {
      maxTokens,
    }: {
      /** The budget that the next request would have passed, in tokens. */
      readonly maxTokens: number;
    },
  ) {
    super("budget", message);
    this.maxTokens = maxTokens;
  }
}

/** Documents of a run failed while nobody listened to its reports. All others went through. */
export class FailedDocumentsError extends CitewellError {
  /** Reason of each failure, by `Document.uri`. */
  readonly failures: ReadonlyMap<string, Error>;

  constructor(failures: ReadonlyMap<string, Error>) {
    const shown = [...failures].slice(0, 5).map(([uri, { message }]) => `${uri}: ${message}`);
    if (failures.size > shown.length) shown.push(`and ${failures.size - shown.length} more in \`failures\``);
    super(
      "documents-failed",
      `${failures.size} ${failures.size === 1 ? "document" : "documents"} failed, the others went through. ` +
        `Pass \`report\` to hear of each instead of this error. ${shown.join("; ")}`,
      { cause: failures.values().next().value },
    );
    this.failures = failures;
  }
}

/** The counts of a run do not add up at its end: a defect of this library or of a stage, never to be ignored. */
export class ReconciliationError extends CitewellError {
  constructor(message: string) {
    super("reconciliation", message);
  }
}

/** Hint for a process that may not open more files. */
export const closeSomeFiles = "Close some of the files and connections of this process, or raise its limit (ulimit -n)";

/**
 * Whether the operating system refused to open one more file, now or in a thread that reported it. Node 24 says so only
 * in words when it could not open a package.json.
 */
export function isOutOfFiles(error: unknown): boolean {
  return error instanceof Error && /\bE[MN]FILE\b|too many open files/.test(error.message);
}

/** Message of a system error, with a hint if the process may open no more files. */
export function systemMessage(error: Error): string {
  return isOutOfFiles(error) ? `${error.message}. Let the process open more: ulimit -n 1024` : error.message;
}

/** Any thrown value as an `Error`, itself if it is one. */
export function asError(thrown: unknown): Error {
  try {
    return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
  } catch {
    // An object without a prototype cannot be converted to text, and a revoked proxy throws on every access.
    return new Error("something was thrown that cannot be written as text");
  }
}

const absent: ReadonlySet<unknown> = new Set(["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);

/**
 * Whether an import failed because the package is missing, or too old to have that module.
 *
 * @internal
 */
export function isAbsentPackage(cause: unknown): boolean {
  return absent.has((cause as NodeJS.ErrnoException).code);
}

/**
 * Handles a failed import of a package that users install only if they need it: `import("pg").catch(missingPeer(…))`. Bundlers
 * leave an import of this form alone if the package is not installed. `version` is the one that `part` works with, as npm writes
 * it.
 *
 * @returns a function that throws: OptionsError `missing-package` when the package is not installed, or in a version without these
 *   modules; any other error as it is.
 * @internal
 */
export function missingPeer(part: string, name: string, version: string): (cause: unknown) => never {
  return (cause) => {
    if (!isAbsentPackage(cause)) throw cause;
    const message = `${part} needs the package ${name} of version ${version}, which is not installed. Install it: npm install ${name}@${version}`;
    throw new OptionsError("missing-package", message, { cause });
  };
}
