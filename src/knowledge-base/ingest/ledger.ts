import { crc32 } from "node:zlib";
import { BudgetError, ReconciliationError, asError, withErrorInJson } from "../../core/errors.js";
import type { RunContext, RunEvent } from "../../core/pipeline.js";
import type { Source } from "../../core/stream.js";
import type { Document } from "../../core/types.js";
import { DocumentBook, type DocumentOutcome } from "./document-book.js";
import { RecentRate, timeLeft } from "./pace.js";

type DocumentEvent = Extract<RunEvent, { type: "document" }>;

/** The result of an ingest. */
export interface IngestReport {
  /** Every document that was read, or had vanished, under exactly one of these; those that a stage skipped are in `skipped`. */
  readonly documents: Readonly<Record<DocumentOutcome, number>>;
  /** Chunks of the documents of this run. */
  readonly chunks: {
    /** Chunks of all documents that were read and are now in the store: `embedded + reused`. */
    readonly total: number;
    /** Chunks that had to be embedded. */
    readonly embedded: number;
    /** Chunks whose vectors were there already. */
    readonly reused: number;
    /** Chunks that went with changed or vanished documents. */
    readonly deleted: number;
  };
  /** Tokens that the service counted, or the embedder's own counter if it reports none. */
  readonly tokens: number;
  /** Calls for embeddings; one that the transport had to repeat counts once. */
  readonly requests: number;
  /** Pictures that a model described. Absent where none were met, or none were to be described. */
  readonly pictures?: DescribedPictures;
  /** Cost of all tokens, those of pictures among them, in the currency of the price; only where a price was given. */
  readonly cost?: number;
  /** Time from the first document to the end. */
  readonly seconds: number;
  /** Present only when a budget ended the run before the source was read: run again with a larger one to continue. */
  readonly stopped?: {
    /** Message of the `BudgetError`. */
    readonly reason: string;
    /** Documents that were read and not finished; their vectors so far are kept. Others may not have been read. */
    readonly unfinished: number;
  };
  /** Documents and files that failed, each with its error. Their earlier versions stay stored. */
  readonly failures: readonly {
    /** Address of the document or file. */
    readonly uri: string;
    /** Why it failed. */
    readonly error: Error;
  }[];
  /**
   * Number of failures from an earlier run: their files have not changed and were not read again. Absent if there are
   * none; `retryFailed` reads them.
   */
  readonly notRetried?: number;
  /** Files that no loader reads, and documents that a stage left out, with the reason. */
  readonly skipped: readonly {
    /** Address of the document or file. */
    readonly uri: string;
    /** Why it was passed over, in words. */
    readonly reason: string;
  }[];
  /**
   * Warnings of one line each: about sources read only in part, such as pages without text or a site cut short, and
   * about several documents with one uri, of which the last is kept.
   */
  readonly warnings: readonly string[];
  /**
   * Text that the documents read in this run do not have on purpose, by kind, such as the earlier mails that a reply repeats.
   * It fails no document. `citewell read` and the event `left-out` name each. Absent if nothing was left out.
   */
  readonly leftOut?: readonly LeftOutTotal[];
}

/** Pictures of the documents of a run, each counted once. */
export interface DescribedPictures {
  /** Pictures that were sent to the model and described. */
  readonly described: number;
  /** Pictures whose description was kept from an earlier run. */
  readonly reused: number;
  /** Tokens that the service counted for the descriptions, requests and replies together; 0 where it reports none. */
  readonly tokens: number;
}

/** Text of one kind that the documents of a run were read without. */
export interface LeftOutTotal {
  /** Its kind, in the plural: `earlier mails`. */
  readonly what: string;
  /** Number of places that it was left out at. */
  readonly count: number;
  /** Number of documents with such a place. */
  readonly documents: number;
  /** Address of the first such document, to look at by `citewell read`. */
  readonly uri: string;
}

/** Never 0, which stands for none. */
function checksumOf({ title, metadata, text }: Document): number {
  return crc32(text, crc32(JSON.stringify([title, metadata]))) || 1;
}

/** A file that takes longer than this to read is named in the progress. */
const slowSeconds = 3;

/** How far an ingest is. */
export interface IngestProgress {
  /** Documents there are to read; undefined until the source has been walked, or when it cannot be known. */
  readonly documentsFound: number | undefined;
  /** Documents that the source has handed out. */
  readonly documentsRead: number;
  /** Documents whose outcome is known. */
  readonly documentsDone: number;
  /** Chunks that had to be embedded and have their vector; last, when the store could not be written to, those that are kept. */
  readonly chunksEmbedded: number;
  /** Tokens that the service counted, or the embedder's own counter if it reports none. */
  readonly tokens: number;
  /** Calls for embeddings that were answered. */
  readonly requests: number;
  /** Time since the run began. */
  readonly seconds: number;
  /** Chunks embedded a second, over the last 20 seconds; undefined in the first second. */
  readonly chunksPerSecond: number | undefined;
  /** The file that is being read for more than three seconds already, if any. */
  readonly slowFile?: string;
  /** Estimated from the documents of the last 20 seconds; undefined while there is too little to tell by. */
  readonly secondsLeft: number | undefined;
}

/** Keeps the books of one ingest: takes a run's events, and gives the progress at any time and the report at the end. */
export class IngestLedger {
  readonly #startedAt = performance.now();
  readonly #book = new DocumentBook();
  readonly #failures = new Map<string, Error>();
  readonly #skipped: { readonly uri: string; readonly reason: string }[] = [];
  readonly #warnings: string[] = [];
  readonly #leftOut = new Map<string, LeftOutTotal>();
  readonly #counters = new Map<string, number>();
  readonly #chunkRate = new RecentRate();
  readonly #documentRate = new RecentRate();
  /** When the reading of each file began. */
  readonly #reading = new Map<string, number>();
  #deletedChunks = 0;
  #notRetried = 0;
  /** Documents that another one of the run replaced, and the uri of the first. */
  #replaced = 0;
  #firstReplaced: string | undefined;

  /** Hands on documents, each noted as read. Those that come twice have to be two objects, or their chunks would join. */
  async *reading(source: Source<Document>): AsyncGenerator<Document> {
    for await (const document of source) {
      this.#book.noteRead(document.uri);
      if (this.#book.noteChecksum(document.uri, checksumOf(document))) {
        this.#replaced++;
        this.#firstReplaced ??= document.uri;
      }
      yield document;
    }
  }

  wasRead(uri: string): boolean {
    return this.#book.wasRead(uri);
  }

  add(event: RunEvent): void {
    switch (event.type) {
      case "progress":
        this.#counters.set(event.what, this.#count(event.what) + event.count);
        break;
      case "document":
        this.#settle(event);
        break;
      case "skipped":
        this.#skipped.push({ uri: event.uri, reason: event.reason });
        break;
      case "reading":
        if (event.isOver) this.#reading.delete(event.uri);
        else this.#reading.set(event.uri, this.#seconds());
        break;
      case "warning":
        this.#warnings.push(event.message);
        break;
      case "left-out":
        this.#addLeftOut(event);
        break;
    }
  }

  progress(): IngestProgress {
    const documentsFound = this.#counters.get("files-found");
    const documentsDone = this.#book.settled;
    const chunksEmbedded = this.#embedded();
    const seconds = this.#seconds();
    this.#chunkRate.note(seconds, chunksEmbedded);
    this.#documentRate.note(seconds, documentsDone);
    const [slowFile] = [...this.#reading].find(([, since]) => seconds - since > slowSeconds) ?? [];
    return {
      documentsFound,
      documentsRead: this.#book.read,
      documentsDone,
      chunksEmbedded,
      tokens: this.#count("tokens"),
      requests: this.#count("requests"),
      seconds,
      ...(slowFile !== undefined && { slowFile }),
      chunksPerSecond: this.#chunkRate.perSecond(seconds, chunksEmbedded),
      secondsLeft: timeLeft(documentsFound, documentsDone, this.#documentRate.perSecond(seconds, documentsDone)),
    };
  }

  /**
   * Adds up the counts of the run.
   *
   * @param stopped the error that ended the run early: documents without an outcome are then unfinished.
   * @throws ReconciliationError when a document was read and has no outcome.
   */
  report(failures: RunContext["failures"], stopped?: BudgetError): IngestReport {
    let unfinished = 0;
    for (const [uri, error] of failures) {
      if (error instanceof BudgetError) unfinished++;
      else this.#settle({ type: "document", uri, outcome: "failed", chunks: 0, error });
    }
    const skipped = new Set(this.#skipped.map(({ uri }) => uri));
    const lost = [...this.#book.unsettled()].filter((uri) => !failures.has(uri) && !skipped.has(uri));
    if (stopped) unfinished += lost.length;
    else if (lost.length > 0) {
      throw new ReconciliationError(
        `${this.#book.read} documents were read, but ${lost.length} of them came to nothing, the first: ${lost[0]}. ` +
          'A stage dropped them without saying so: report({ type: "skipped", uri, reason }) accounts for them',
      );
    }
    const { documents, chunks: total } = this.#book.totals();
    // Chunks of a document that failed later were embedded too: their vectors are kept, but they are no stored chunks.
    const embedded = Math.min(this.#embedded(), total);
    return {
      documents,
      chunks: { total, embedded, reused: total - embedded, deleted: this.#deletedChunks },
      tokens: this.#count("tokens"),
      requests: this.#count("requests"),
      ...this.#pictures(),
      seconds: this.#seconds(),
      ...(stopped && { stopped: { reason: stopped.message, unfinished } }),
      failures: [...this.#failures].map(([uri, error]) => withErrorInJson({ uri, error })),
      ...(this.#notRetried > 0 && { notRetried: this.#notRetried }),
      skipped: this.#skipped,
      warnings: [...this.#warnings, ...this.#aboutReplaced()],
      ...(this.#leftOut.size > 0 && { leftOut: [...this.#leftOut.values()] }),
    };
  }

  /** A reader reports each kind once for a document, so an event is a document. */
  #addLeftOut({ uri, what, count }: Extract<RunEvent, { type: "left-out" }>): void {
    const before = this.#leftOut.get(what) ?? { what, count: 0, documents: 0, uri };
    this.#leftOut.set(what, { ...before, count: before.count + count, documents: before.documents + 1 });
  }

  #settle({ uri, outcome, chunks, deletedChunks = 0, error, isRecalled }: DocumentEvent): void {
    this.#deletedChunks += deletedChunks;
    if (isRecalled) this.#notRetried++;
    // A source that knows a file to be unchanged hands out no document of it.
    if (outcome === "unchanged") this.#book.noteRead(uri);
    // A document that is read twice in one run (two overlapping folders) counts once, with the outcome of its first
    // reading.
    if ((outcome === "unchanged" || outcome === "updated") && this.#book.isSettled(uri)) return;
    this.#book.settle(uri, outcome, outcome === "deleted" || outcome === "failed" ? 0 : chunks);
    if (outcome === "failed") this.#failures.set(uri, asError(error ?? "failed without a reason"));
  }

  #aboutReplaced(): readonly string[] {
    if (this.#replaced === 0) return [];
    const count = this.#replaced === 1 ? "1 document has" : `${this.#replaced} documents have`;
    return [
      `${count} the uri of an earlier one of this run and another text, title or metadata; the last of each uri is kept. ` +
        `The first such uri: ${this.#firstReplaced}. Give every document a uri of its own`,
    ];
  }

  #pictures(): Pick<IngestReport, "pictures"> {
    const [described, reused, tokens] = ["pictures", "pictures-kept", "picture-tokens"].map((what) =>
      this.#count(what),
    );
    return described || reused ? { pictures: { described: described!, reused: reused!, tokens: tokens! } } : {};
  }

  /** Chunks that were embedded: those that left with a vector, less those that came with one. */
  #embedded(): number {
    return this.#count("chunks") - this.#count("reused");
  }

  #count(what: string): number {
    return this.#counters.get(what) ?? 0;
  }

  #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }
}
