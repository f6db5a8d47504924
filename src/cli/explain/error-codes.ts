import type {
  AnswerErrorCode,
  LoadErrorCode,
  OptionsErrorCode,
  StoreErrorCode,
  TransportErrorCode,
} from "../../core/errors.js";
import type { VideoErrorCode } from "../../transport/video/video-error.js";

/** One code of an error: why it is thrown, and how to go on. */
export interface Explanation {
  readonly cause: string;
  readonly remedy: string;
}

/** Codes by the class that carries them. A new code without an explanation does not compile. */
export interface Explanations {
  readonly OptionsError: Readonly<Record<OptionsErrorCode, Explanation>>;
  readonly TransportError: Readonly<Record<TransportErrorCode, Explanation>>;
  readonly StoreError: Readonly<Record<StoreErrorCode, Explanation>>;
  readonly LoadError: Readonly<Record<LoadErrorCode, Explanation>>;
  readonly AnswerError: Readonly<Record<AnswerErrorCode, Explanation>>;
  readonly VideoError: Readonly<Record<VideoErrorCode, Explanation>>;
  readonly BudgetError: Readonly<Record<"budget", Explanation>>;
  readonly FailedDocumentsError: Readonly<Record<"documents-failed", Explanation>>;
  readonly ReconciliationError: Readonly<Record<"reconciliation", Explanation>>;
}

export const explanations: Explanations = {
  OptionsError: {
    options: {
      cause: "An option is missing, unknown, or out of its range.",
      remedy: "The message names the option and the range, and for a misspelt name the nearest one. Correct the call.",
    },
    facts: {
      cause: "Two stages of a pipeline contradict each other, such as chunks that are longer than the embedder takes.",
      remedy:
        "The message has both numbers. Change one of the two stages; `chunk({ for: embed })` takes the limit over.",
    },
    config: {
      cause: "A file of settings, keys or callers, or an environment variable, cannot be used.",
      remedy:
        "The message names the file or variable. Correct it; a setting may also be given by its flag, which takes precedence.",
    },
    "missing-package": {
      cause:
        "The feature needs an optional package that is not installed, or a file of citewell that a bundler left out.",
      remedy:
        "Install the package that the message names, or keep citewell out of the bundle. `citewell doctor` shows which packages are there.",
    },
  },
  TransportError: {
    request: {
      cause: "The request breaks the contract of the service. Nothing was sent.",
      remedy: "The message names the field, its value and the limit. Correct that field.",
    },
    unauthorized: {
      cause: "The service refused the key (401): it is missing, wrong, or belongs to another region.",
      remedy: "Set CITEWELL_API_KEY, or `apiKey` in code, to a key of the service that CITEWELL_BASE_URL names.",
    },
    forbidden: {
      cause: "The account may not do this (402 or 403): no credit, or no access to the model.",
      remedy: "Check credit and permissions of the account at the service. Trying again does not help.",
    },
    "unsupported-model": {
      cause: "The service does not offer the model that the request named.",
      remedy:
        "Compare the model's id with the list of the service. Embedding, rerank and chat models are set separately.",
    },
    "not-found": {
      cause: "The service has no such path or record (404).",
      remedy:
        "Check the base address and the kind of service. Finished video tasks are kept by a service for a limited time.",
    },
    "too-large": {
      cause: "The service takes fewer or shorter inputs in one request (413).",
      remedy:
        "Lower `batchSize` of the embedder or cut shorter chunks. When indexing, citewell halves refused batches by itself.",
    },
    "context-length": {
      cause: "Instructions, passages and question are longer than the model's context.",
      remedy:
        "Give the model fewer or shorter passages, begin a new conversation, or use a model with a longer context.",
    },
    refused: {
      cause: "The service refused the request with another status of the 400s.",
      remedy: "Read `serviceCode` and the message: they are the service's own. The same request will be refused again.",
    },
    "rate-limited": {
      cause: "The service still answered 429 after the last retry.",
      remedy:
        "Wait for `retryAfterMs`, or lower `concurrency` and `tokensPerMinute` of the transport. A run resumes where it was.",
    },
    upstream: {
      cause: "The service still failed (a status of the 500s) after the last retry.",
      remedy: "Try again later, and quote `requestId` to the service. Vectors that had arrived are kept.",
    },
    network: {
      cause: "There was no connection to the service, or it broke.",
      remedy: "Check the address, the proxy variables and certificates; `citewell doctor` tries the connection.",
    },
    timeout: {
      cause: "A deadline or an idle limit passed before the service had answered.",
      remedy: "Raise `deadlineMs` or the timeout that the message names, or send less in one call.",
    },
    reply: {
      cause: "The reply is not what the contract or the request calls for, such as fewer vectors than texts.",
      remedy:
        "Check that the service speaks the API that is set with `service`. If it does, report the reply to its makers.",
    },
    truncated: {
      cause: "A stream ended before it said that it was finished.",
      remedy: "Ask again. `partialText` has what had arrived; proxies that cut long replies are a usual cause.",
    },
    ambiguous: {
      cause: "An order may or may not have been carried out, and it is never sent twice.",
      remedy: "Look for the order with `submission` (`citewell video find`) before you create it again.",
    },
  },
  StoreError: {
    missing: {
      cause: "There is no store at this path, it is empty, or what the call needs of it is not there.",
      remedy:
        "Index something first (`citewell index ./docs`), name the store with `--store`, or do what the message says.",
    },
    space: {
      cause: "The store holds vectors of another model.",
      remedy: "Use the model that the message names, or move the store to the new one with `citewell migrate`.",
    },
    dimension: {
      cause: "A vector has another length than those in the store.",
      remedy: "Use the model and the `dimension` that the store was built with, or migrate it.",
    },
    vector: {
      cause: "A vector has a component that is not a finite number, or it has no direction.",
      remedy: "The embedder is at fault. Check what it returns for the text that the message names.",
    },
    version: {
      cause:
        "A newer version of citewell has written the store, or its tables in a database wait for an upgrade by their owner.",
      remedy:
        "Install that version or a newer one, or open the store once as the owner of its tables. An older version never changes it.",
    },
    locked: {
      cause: "Another process is writing to the store, or is migrating it.",
      remedy: "Wait until it is done or end it. Any number of processes may read meanwhile.",
    },
    damaged: {
      cause: "A file of the store has changed since it was written, or is not one of citewell's.",
      remedy:
        "Run `citewell verify --repair`: indexes are derived from the documents, and are rebuilt. Damaged documents need a backup, or a new store.",
    },
    disk: {
      cause: "The system refused to read or write: the disk is full, the folder is read-only, or a file went away.",
      remedy: "Make room or give the permission, then run the same command again. What was acknowledged is kept.",
    },
    unavailable: {
      cause: "The store's server cannot be reached, does not let the user in, or did not answer in time.",
      remedy: "Check the address, user and password of `--store postgres://…`, and whether the server runs.",
    },
    scope: {
      cause: "The store requires a scope and the call had none, or the role in the database may not do this.",
      remedy:
        "Call it on `kb.scoped(filter)`, give the request a filter in `access`, or open the store as the owner of its tables.",
    },
    busy: {
      cause: "More searches wait for the readers than may.",
      remedy: "Ask again in a moment, or give the server more readers (`--workers`).",
    },
    closed: {
      cause: "The store was used after `close()`, a thread of it ended, or it was migrated meanwhile.",
      remedy: "Open it again.",
    },
  },
  LoadError: {
    missing: {
      cause: "There is no such file, folder, bucket or page.",
      remedy: "Check the path. To take what is gone out of the store, use `citewell remove`.",
    },
    empty: {
      cause: "There was nothing to read in the file, folder or site.",
      remedy: "Check `--include`, `--exclude` and `.gitignore`. A scan has no text of its own and needs `--ocr`.",
    },
    binary: {
      cause: "The bytes are not text, and no known format.",
      remedy: "Convert the file to a format that is read, or exclude it.",
    },
    unsupported: {
      cause:
        "There is no loader for this kind of file, its package is not installed, or the site's robots.txt keeps programs from the page.",
      remedy: "Convert the file or install the package, as the message says, or write a loader of your own.",
    },
    unreadable: {
      cause: "The file system, a server or a parser refused it, or it is not of the kind that its ending says.",
      remedy:
        "The message has the reason. Check permissions and address; unlock a protected file, and save a damaged one again.",
    },
    malformed: {
      cause: "A line of the file does not follow its format, or a column that you named is not in it.",
      remedy: "The message names the line or column. Correct it; the other documents of the run are not affected.",
    },
    "too-large": {
      cause: "The file is larger than the limit, or would be once it is unpacked.",
      remedy: "Raise the option that the message names, if it names one, or split the file.",
    },
    timeout: {
      cause: "Reading took longer than the limit.",
      remedy: "Raise the option that the message names, or exclude the file.",
    },
  },
  AnswerError: {
    "question-too-long": {
      cause: "Question and instructions leave no room for passages in the model's context.",
      remedy: "Shorten the question or the instructions, or use a model with a longer context.",
    },
    "thinking-budget": {
      cause: "All output tokens went into thinking, so there is no answer.",
      remedy: "Raise the limit of output tokens or lower the thinking effort.",
    },
    "content-filter": {
      cause: "The service withheld the answer.",
      remedy: "Ask differently, or change the filter's settings at the service.",
    },
    schema: {
      cause: "The reply does not fit the schema, even after the model was shown its mistake.",
      remedy: "`text` has the reply. Simplify the schema, describe its fields, or use a model with structured output.",
    },
    decided: {
      cause: "A call that waited for approval was decided before. Nothing was run again.",
      remedy: "Load the conversation again: it shows the decision and its result.",
    },
  },
  VideoError: {
    failed: {
      cause: "The task ended without a video.",
      remedy: "`task.error` has the service's reason, if it gave one. Change the request and create a new task.",
    },
    expired: {
      cause: "The task was not finished within its `execution_expires_after`.",
      remedy: "Create it again, with a longer time if the service was busy.",
    },
    cancelled: { cause: "The task was cancelled.", remedy: "Create a new one if you still want the video." },
    "wait-timeout": {
      cause: "The wait ended before the task did. The task goes on.",
      remedy: "Wait again by its id: `citewell video wait ID`.",
    },
    "link-expired": {
      cause: "The link to the result no longer works.",
      remedy: "The video has to be made again. Download results as soon as a task has succeeded.",
    },
    "no-media": { cause: "The task has no such result.", remedy: "Ask for a result that the finished task lists." },
    download: {
      cause: "The result could not be fetched.",
      remedy: "Try again: the download continues where it stopped.",
    },
  },
  BudgetError: {
    budget: {
      cause: "The next request would have passed your budget. It was not sent.",
      remedy: "Everything paid for is kept. Run the same again with a larger budget, and it resumes there.",
    },
  },
  FailedDocumentsError: {
    "documents-failed": {
      cause: "Some documents of a run failed, and nobody listened to its reports. All others went through.",
      remedy: "`failures` has the reason of each. Mend those and run again, or pass `report` to hear of each instead.",
    },
  },
  ReconciliationError: {
    reconciliation: {
      cause: "The counts of a run do not add up at its end.",
      remedy:
        "A stage of your own that loses or repeats documents is the usual cause; otherwise it is a defect of citewell.",
    },
  },
};
