import type { z } from "zod";
import type { Filter } from "./filter.js";
import type { JsonSchema } from "./json.js";
import type {
  Price,
  Chunk,
  Document,
  ExtraContent,
  FailedAttempt,
  FinishReason,
  Hit,
  Json,
  Metadata,
  Placement,
  Usage,
} from "./types.js";

/** Options of every call that leaves this process. */
export interface CallOptions {
  /** Aborts the call, which then throws the signal's `reason`, unchanged. */
  readonly signal?: AbortSignal;
  /**
   * Maximum time for the call with all its retries, in milliseconds from now. 0 or less: it has passed, nothing is sent, and the call
   * ends as `timeout`. Default: no limit beyond the transport's own.
   */
  readonly deadlineMs?: number;
  /** Is told of each attempt that failed, whether another follows or not. One that follows waits for a promise returned here. */
  readonly onFailedAttempt?: (attempt: FailedAttempt) => void | Promise<void>;
}

/** Counts tokens the way a model does, or never fewer. */
export interface TokenCounter {
  /** Names the vocabulary: counts of two names do not compare. */
  readonly name: string;
  /** Tokens of `text`, special words such as `<|endoftext|>` counted as the text they are. */
  readonly count: (text: string) => number;
  /**
   * One pass over a long text: where its smallest countable pieces end and how many tokens had come by then. Lets the
   * chunker find its bounds without counting again. Optional: without it the chunker counts words by `count`.
   */
  readonly measure?: (text: string) => TokenMeasure;
}

/** Pieces of a text in order. Both arrays have one entry a piece. */
export interface TokenMeasure {
  /** Offset just behind each piece, in UTF-16 code units; the last is the text's length. */
  readonly ends: Uint32Array;
  /** Tokens from the text's start through the end of each piece. */
  readonly tokens: Uint32Array;
}

export interface EmbedCall extends CallOptions {
  /** Models with instructions embed a question and a passage differently. Default: `document`. */
  readonly purpose?: "document" | "query";
  /** Tokens of all texts by the embedder's own counter, where the caller has counted them already. */
  readonly countedTokens?: number | undefined;
}

export interface Embeddings {
  /** One per text, in the order of the texts. */
  readonly vectors: readonly Float32Array[];
  /** Tokens the service counted. Absent where it reports none. */
  readonly tokens?: number | undefined;
}

/** Turns texts into vectors of one space. */
export interface Embedder<Space extends string = string> {
  /** Names the vector space: usually the model's id. Vectors of two spaces are never compared. */
  readonly space: Space;
  /** Length of the vectors, where it is known before the first call. */
  readonly dimension?: number;
  /** Maximum tokens in one text. */
  readonly maxInputTokens: number;
  /** Maximum number of texts in one call. */
  readonly maxBatchTexts: number;
  /** Maximum tokens in one call, all texts together. Default: no limit. */
  readonly maxBatchTokens?: number;
  /** Counts the tokens of texts before they are sent. */
  readonly tokens: TokenCounter;
  /**
   * Tokens that the service was seen to count for one of `tokens`, at least 1. Rises as calls are answered: chunks made
   * from then on have `maxInputTokens` over this at most. Default: 1.
   */
  readonly tokenMargin?: number;
  /** Price of a million tokens, for the account of an answer. Default: unknown. */
  readonly price?: Price;
  /**
   * Returns one vector for each text, in the order of the texts. At most `maxBatchTexts` texts, each of at most
   * `maxInputTokens`.
   */
  readonly embed: (texts: readonly string[], call?: EmbedCall) => Promise<Embeddings>;
}

export interface RecognizeCall {
  /** Aborts the call, which then throws the signal's `reason`, unchanged. */
  readonly signal?: AbortSignal;
  /** Is called whenever the work has come further: without it for `timeoutMs`, the picture is given up. */
  readonly onProgress?: () => void;
}

/** Reads the words in pictures: optical character recognition. */
export interface TextRecognizer {
  /** Names the program and its languages, such as `tesseract eng`: with another, files are read again. */
  readonly name: string;
  /**
   * The text of one picture, line by line; empty where it shows none. The picture is a whole file of a kind that files of
   * pictures have; pages of PDFs are PNG.
   */
  readonly recognize: (picture: Uint8Array, call?: RecognizeCall) => Promise<string>;
  /**
   * The same with the places of the words, by which cited words are boxed on the pages of a scan. Default: the places are
   * unknown, and `recognize` is called.
   */
  readonly recognizeWords?: (picture: Uint8Array, call?: RecognizeCall) => Promise<RecognizedText>;
}

/** The text of a picture with the places of its words. */
export interface RecognizedText {
  /** The text that `TextRecognizer.recognize` returns. */
  readonly text: string;
  /** The words in the order of the text. One that the text does not hold is passed over. */
  readonly words: readonly RecognizedWord[];
}

/** A word of a picture with the edges of its box. */
export interface RecognizedWord {
  /** Letters, digits and signs, without white space. */
  readonly text: string;
  /** Left edge, in pixels from the left of the picture. */
  readonly left: number;
  /** Upper edge, in pixels from the top of the picture. */
  readonly top: number;
  /** Right edge, in pixels from the left of the picture. */
  readonly right: number;
  /** Lower edge, in pixels from the top of the picture. */
  readonly bottom: number;
}

/** A picture as it lies in a file, with the words that the document gives it. */
export interface PictureToRead {
  /** The whole file of the picture: PNG, JPEG, WebP, GIF, BMP or TIFF. */
  readonly bytes: Uint8Array;
  /** Media type by its first bytes, such as `image/png`. */
  readonly mediaType: string;
  /** Alternative text or caption. Default: none. */
  readonly caption?: string;
  /** Width in pixels. Default: unknown. */
  readonly width?: number;
  /** Height in pixels. Default: unknown. */
  readonly height?: number;
  /** Text of the document around the picture, at most 1,000 characters. Default: none. */
  readonly surroundings?: string;
}

/** Words about a picture, with their cost. */
export interface PictureDescription {
  /** The words: the things shown, and every word and number that stands in the picture. Empty where nothing can be told. */
  readonly text: string;
  /** Tokens that the service counted. Absent where it reports none. */
  readonly usage?: Usage | undefined;
}

/** Admits calls while the token budget lasts. */
export interface Budget {
  /** Maximum tokens of all calls together. Default: no limit. */
  readonly maxTokens?: number;
  /**
   * Reserves what a call of `tokens` tokens by our count will cost. Each charge is settled once, whatever becomes of the call.
   *
   * @throws BudgetError when it does not fit any more: the call must not be made.
   */
  readonly reserve: (tokens: number) => Promise<Charge>;
}

/** Tokens that are reserved for a call. */
export interface Charge {
  /**
   * Ends the reservation with what the call came to: the tokens that the service counted, which may be missing in a reply,
   * or the error in place of a reply.
   */
  readonly settle: (
    result:
      | {
          /** Tokens that the service counted; absent if it reported no count. */
          readonly tokens?: number | undefined;
        }
      | {
          /** The error that the call ended with. */
          readonly error: unknown;
        },
  ) => void;
}

/** Tokens that the description of a picture is expected to cost. */
export interface ExpectedTokens {
  /** Tokens of the request, the picture's among them: an estimate, since services count pictures each in their own way. */
  readonly request: number;
  /** Maximum tokens of the reply. */
  readonly maxReply: number;
}

/** Describes pictures in words: a model that sees. */
export interface PictureReader {
  /** Id of the model whose words they are, which citations name: with another, pictures are read again. */
  readonly model: string;
  /** Describes one picture. An aborted `signal` throws its `reason`. */
  readonly describe: (picture: PictureToRead, call?: CallOptions) => Promise<PictureDescription>;
  /** Tokens that `describe` will cost, for plans and budgets. Default: estimated by the picture's size and its texts. */
  readonly expectedTokens?: (picture: PictureToRead) => ExpectedTokens;
}

export interface RerankCall extends CallOptions {
  /** Maximum number of results. Default: all. */
  readonly topN?: number;
}

export interface Reranking {
  /** Ranked documents, by falling score, ties by index; each index at most once. */
  readonly results: readonly {
    /** Into the documents of the call. */
    readonly index: number;
    /** In the model's own scale; higher is better. */
    readonly score: number;
  }[];
  /** Tokens the service counted. Absent where it reports none. */
  readonly tokens?: number | undefined;
}

/** Orders documents by what they say about a query. */
export interface Reranker {
  /** Id of the model, for the account of an answer. */
  readonly model: string;
  /** Price of a million tokens, for the account of an answer. Default: unknown. */
  readonly price?: Price;
  /** Scores documents for a query, in one call. */
  readonly rerank: (query: string, documents: readonly string[], call?: RerankCall) => Promise<Reranking>;
}

export interface ChatMessage {
  /** `tool` only for models with `toolMessages: "role-tool"`. */
  readonly role: "system" | "user" | "assistant" | "tool";
  /** The text; for `tool`, the result of the call. */
  readonly content: string;
  /**
   * Pictures that go with a user's message, each `data:image/FORMAT;base64,…` or an http(s) address, only for models with
   * `seesPictures`. Default: none.
   */
  readonly pictures?: readonly string[];
  /** Calls that an assistant's message made; each is answered by one of the `tool` messages right behind it. */
  readonly toolCalls?: readonly {
    /** Names the call, for `toolCallId` of its result. */
    readonly id: string;
    /** Name of the tool. */
    readonly name: string;
    /** The model's own JSON text. */
    readonly arguments: string;
    /** Extra content as the reply had it. */
    readonly extraContent?: ExtraContent;
  }[];
  /** Reasoning that preceded the calls, for models that want it back. */
  readonly reasoning?: string;
  /** Id of the call that a `tool` message answers. */
  readonly toolCallId?: string;
}

/**
 * How calls of tools and their results are sent back. `user-xml`: as text, results in a user message, in the three roles of
 * the contract. `role-tool`: in messages of the role `tool`, for services that take it.
 */
export type ToolMessages = "user-xml" | "role-tool";

/** A tool as a model is told of it. */
export interface ToolDescription {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** Tells the model when and how to use it. */
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
}

export interface ChatRequest {
  /** Oldest first, at most `ChatModel.maxMessages`. */
  readonly messages: readonly ChatMessage[];
  /** Tools that the model may call. Default: none. */
  readonly tools?: readonly ToolDescription[];
  /** Maximum tokens of the reply. Default: the model's own. */
  readonly maxTokens?: number;
  /** Sampling temperature, 0 to 2. Default: the model's own. */
  readonly temperature?: number;
  /** Texts that end the reply and are not part of it, at most 4. Default: none. */
  readonly stop?: readonly string[];
  /** `required`: the reply is to call a tool. A hint: models over services that cannot demand it ignore it. Default: the model decides. */
  readonly toolChoice?: "required";
  /** `json`: the reply is one JSON object. Default: `text`. */
  readonly format?: "text" | "json";
  /** With `format: "json"`, the schema of that object, for models that can be held to one; others ignore it. */
  readonly schema?: JsonSchema;
}

/** Events of a chat model's reply; they end with exactly one `finish`, or the stream throws. */
export type ChatEvent =
  | {
      readonly type: "text-delta";
      /** The next piece of the reply. */
      readonly text: string;
    }
  | {
      readonly type: "reasoning-delta";
      /** The next piece of the model's thinking. */
      readonly text: string;
    }
  /** Whole, once its arguments are complete. `arguments` is the model's own JSON text. */
  | {
      readonly type: "tool-call";
      /** Names the call, for its result. */
      readonly id: string;
      /** Name of the tool, as it was offered. */
      readonly name: string;
      /** JSON text, which may be invalid. */
      readonly arguments: string;
      /** Comes back with the call in `ChatMessage.toolCalls`. Default: none. */
      readonly extraContent?: ExtraContent;
    }
  | {
      readonly type: "finish";
      /** Why the reply ended. */
      readonly reason: FinishReason;
      /** The model's words where it declined to answer; the text has them, too. Default: it did not. */
      readonly refusal?: string;
      /** Tokens as the service counted them. Absent where it reports none. */
      readonly usage?: Usage | undefined;
      /** The model that answered, as the service named it. */
      readonly model: string;
    };

/** A model that replies to messages. */
export interface ChatModel {
  /** Id of the model, for the account of an answer. */
  readonly model: string;
  /** Maximum tokens of request and reply together. */
  readonly contextTokens: number;
  /** Maximum tokens of a reply. */
  readonly maxOutputTokens: number;
  /** Maximum number of messages in a request; longer histories are folded. */
  readonly maxMessages: number;
  /** How tool calls and their results are written into messages. Default: `user-xml`. */
  readonly toolMessages?: ToolMessages;
  /** Whether messages may have `pictures`. Default: false. */
  readonly seesPictures?: boolean;
  /** Whether the model wants its reasoning before a call sent back. Default: false. */
  readonly replaysReasoning?: boolean;
  /** Counts the tokens of messages before they are sent. */
  readonly tokens: TokenCounter;
  /** Price of a million tokens, for the account of an answer. Default: unknown. */
  readonly price?: Price;
  /**
   * Streams one reply. The request is sent when the loop begins. Leaving the loop closes the connection, and an aborted
   * `signal` also throws its `reason`.
   */
  readonly stream: (request: ChatRequest, call?: CallOptions) => AsyncIterable<ChatEvent>;
}

/** A query for a retriever, which reads what it needs and ignores the rest. */
export interface RetrievalQuery {
  /** The question, for retrievers by words. */
  readonly text: string;
  /** Its vector in the store's space, for retrievers by vector. */
  readonly vector?: Float32Array;
  /**
   * Only chunks that hold these word for word are wanted. A hint that saves work: the caller checks the results anyway.
   */
  readonly phrases?: readonly string[];
}

export interface RetrieveCall extends CallOptions {
  /** Maximum number of results. */
  readonly count: number;
  /**
   * Restricts the documents. A retriever that cannot filter refuses the call; it never ignores the filter. Default: all.
   */
  readonly filter?: Filter;
}

/** A chunk that a retriever found. Best first; `placements` holds how it got there. */
export interface Found {
  /** `Chunk.id` of the chunk. */
  readonly chunkId: string;
  /** In the retriever's own scale; higher is better. */
  readonly score: number;
  /** Every rank it was given on the way, in the order of the steps. */
  readonly placements: readonly Placement[];
}

/** Finds chunks for a query: by vector, by words, or by asking others. */
export interface Retriever {
  /** Name in traces and placements: `dense`, `lexical`, or one of your own. */
  readonly name: string;
  /** At most `call.count` results, best first, each chunk once. */
  readonly retrieve: (query: RetrievalQuery, call: RetrieveCall) => Promise<readonly Found[]>;
  /** Its weight in a hybrid search whose caller gives none, beside 1 for words; `undefined` where it does not know one. */
  readonly weight?: () => Promise<number | undefined>;
}

export interface SimilarWordsCall extends CallOptions {
  /** Maximum number of words. */
  readonly count: number;
  /** Whether the word is the beginning of one, and not a misspelt one. Default: false. */
  readonly unfinished?: boolean;
  /** Only words of documents that it admits. Default: of all. */
  readonly filter?: Filter;
}

/** A document with all its chunks, to be written at once. */
export interface DocumentWrite {
  /** The document that replaces what was stored under its uri. */
  readonly document: Document;
  /** In order; every chunk's vector is in the store or in `vectors` of the same call. Empty for a blank document. */
  readonly chunks: readonly Chunk[];
}

/** Named values that a store keeps beside the documents. */
export type StoreSettings = Readonly<Record<string, Json>>;

export interface StoreWrite {
  /** Vectors by `vectorKey(chunk)`. Kept from now on, whether their document is complete or not. */
  readonly vectors?: ReadonlyMap<string, Float32Array>;
  /** Each replaces all that was stored of its document. */
  readonly documents?: readonly DocumentWrite[];
  /** The current `Embedder.tokenMargin`; a lower one than is stored changes nothing. */
  readonly tokenMargin?: number;
  /** Settings kept for later runs. Names that are not given stay as they are; `null` removes a name. */
  readonly settings?: StoreSettings;
  /**
   * Notes for later runs about documents and files, by uri. Writing or deleting a document removes the note under its uri,
   * unless the same write brings another.
   */
  readonly notes?: ReadonlyMap<string, string>;
}

export interface WrittenDocument {
  /** `Document.uri` of the document. */
  readonly uri: string;
  /** Whether a document of that uri was stored before, and `unchanged` where it was stored just so, as another run may have. */
  readonly outcome: "added" | "updated" | "unchanged";
  /** Chunks that the document has now. */
  readonly chunks: number;
  /** Chunks of its earlier version that went. */
  readonly deletedChunks: number;
}

export interface StoredDocumentInfo {
  /** `Document.uri` of the document. */
  readonly uri: string;
  /** `Document.title`, if it has one. */
  readonly title?: string;
  /** Id of the source that it was read from, if it has one. */
  readonly source?: string;
  /** Hash of everything written for the document: an equal fingerprint means that nothing has to be done. */
  readonly fingerprint: string;
  /** Number of its chunks; 0 for a blank document. */
  readonly chunks: number;
}

export interface StoreCounts {
  /** Number of stored documents. */
  readonly documents: number;
  /** Chunks of all documents. */
  readonly chunks: number;
  /**
   * Vectors of distinct texts, also of those that no chunk uses any more. Of a store on several servers with more than 10,000
   * on one of them, this is an estimate.
   */
  readonly vectors: number;
}

/** Bytes of a store where it is kept, by part. */
export interface StoreSizes {
  /** Documents, chunks and vectors as they were written. */
  readonly databaseBytes: number;
  /** Indexes and tables that searches need beside that, and that can be made of it again. */
  readonly indexBytes: number;
  /** Questions, answers and decisions. */
  readonly conversationBytes: number;
  /** The store from before the last migration, and the one that a migration is building. */
  readonly otherGenerationBytes: number;
}

/** A difference between a store and what was written to it. */
export interface StoreProblem {
  /**
   * - `database`: SQLite finds its file broken.
   * - `documents`: a document or the places of its chunks were altered.
   * - `spans`, `keys`: pieces of a text are not in their places, or chunks are not the text that was embedded.
   * - `counts`, `orphans`: chunks are missing, or have no document or no vector; or a piece of a text has no document.
   * - `vectors`: a vector was altered, or has no direction in the store's space.
   * - `settings`, `log`, `fields`: the settings, the record of removed chunks, or the values that filters test.
   * - `conversations`: a conversation, or a decision on a call, was altered; or SQLite finds their file broken.
   * - `notes`: what earlier runs remembered of a file.
   * - `graph`, `flat`, `lexical`, `latent`: a saved search index.
   */
  readonly what:
    | "database"
    | "documents"
    | "spans"
    | "keys"
    | "counts"
    | "orphans"
    | "vectors"
    | "settings"
    | "log"
    | "fields"
    | "notes"
    | "conversations"
    | "graph"
    | "flat"
    | "lexical"
    | "latent";
  /** Names what is affected and what to do, in one line. */
  readonly message: string;
  /** Whether `verify({ repair: true })` mends it. */
  readonly repairable: boolean;
}

export interface CloseOptions {
  /** Stops waiting for the indexes to hold everything written; that is no error. Default: waits. */
  readonly signal?: AbortSignal;
}

export interface VerifyOptions {
  /** Number of questions for measuring the recall, 1 to 10,000. Default: 50. */
  readonly sample?: number;
  /**
   * Deletes what is broken, and rebuilds what is derived. The next ingest writes the affected documents again. All intact
   * vectors stay, so that only the texts whose vector was lost are embedded again. Needs the write lock. Default: false.
   */
  readonly repair?: boolean;
  /**
   * With `repair`: also deletes the vectors that no chunk uses, which remain of deleted documents, changed documents and
   * interrupted runs. They take room, but save embedding the same texts again. Default: false.
   */
  readonly dropUnusedVectors?: boolean;
  /** Stops the check, which then rejects with the signal's reason. A repair that has begun is completed. */
  readonly signal?: AbortSignal;
}

export interface Verification {
  /** True if the store is intact, or is intact again after the repair. */
  readonly ok: boolean;
  /** The problems that were found before any repair. */
  readonly problems: readonly StoreProblem[];
  /** Share of the exact ten nearest chunks that dense search finds; undefined if the store is empty or not intact. */
  readonly recall: number | undefined;
  /** How the saved graph keeps vectors, see `StoreOptions.quantization`; absent where no graph is saved or it is damaged. */
  readonly quantization?: "none" | "int8" | "int4";
  /** Whether a repair was requested and was possible. */
  readonly repaired: boolean;
  /** Number of unused vectors that were deleted; only present with `dropUnusedVectors`. */
  readonly droppedVectors?: number;
}

/** Restricts the documents that a read sees. */
export interface ReadCall {
  /** Restricts the read to documents that it admits. Default: all. */
  readonly filter?: Filter;
}

/** Read side of a store, or the part of it that a scope admits. */
export interface Searchable<Space extends string = string, Fields extends object = Metadata> {
  /** Vector space of its vectors: `Embedder.space` of the embedder that made them. */
  readonly space: Space;
  /** Length of the vectors; undefined until the first was written. */
  readonly dimension: number | undefined;
  /** The highest `tokenMargin` that was written, for the embedder to begin with. Default: 1. */
  readonly tokenMargin?: number;
  /** Location of the store, for messages. */
  readonly location: string;
  /** Schema of every document's metadata, where the store was opened with one. */
  readonly metadataSchema?: z.ZodType<Fields>;
  /** Finds the nearest vectors. */
  readonly dense: Retriever;
  /** Ranks chunks by the words that they share with the query (BM25). */
  readonly lexical: Retriever;
  /**
   * Finds chunks with related words, by a model of the store's own texts (latent semantic indexing). It finds nothing until such
   * a model was trained. Absent: the store has none.
   */
  readonly latent?: Retriever;
  /**
   * Words of the store that may be meant by a misspelt or unfinished word in lower case: those that fewest slips of a typist make it
   * of first, of these the most frequent. They are stems, each of which `lexical` finds in all its forms. Absent: the store
   * cannot tell, and searches correct no words.
   */
  readonly similarWords?: (word: string, call: SimilarWordsCall) => Promise<readonly string[]>;
  /** A document as it was written. */
  readonly document: (uri: string, call?: ReadCall) => Promise<Document | undefined>;
  /** Facts about a document without its text; `undefined` for an unknown uri. */
  readonly documentInfo: (uri: string) => Promise<StoredDocumentInfo | undefined>;
  /** All documents, or those of one source, in the order of the bytes of their uris. */
  readonly documents: (filter?: {
    /** `Document.source` of the wanted documents. */
    readonly source?: string;
    /** Only those that stand behind this uri, which need not be one of them: the last of the page before. Default: all. */
    readonly after?: string;
    /** Maximum number of documents, 1 or more. Default: all. */
    readonly limit?: number;
  }) => Promise<readonly StoredDocumentInfo[]>;
  /** Chunks by id, in the order asked for; unknown ids are left out, and those that the filter does not let through. */
  readonly hits: (found: readonly Found[], call?: ReadCall) => Promise<readonly Hit[]>;
  /** A view limited to what the filter admits: the documents of one tenant or one reader. */
  scoped(filter: Filter<Fields>): Searchable<Space, Fields>;
}

/** Keeps documents, chunks and vectors of one space, and finds chunks again. */
export interface Store<Space extends string = string, Fields extends object = Metadata> extends Searchable<
  Space,
  Fields
> {
  /** The settings that were written. Default: none. */
  readonly settings?: StoreSettings;
  /**
   * Holds the right to write until the returned function is called, so that no other process can take it between two
   * writes, and results that were paid for in between can be stored. Absent: writers never exclude each other. The
   * promise of the returned function resolves when searches of the store have reached their final results, which hold
   * after it is reopened too.
   *
   * @throws StoreError `locked` while another process has it.
   */
  readonly claim?: () => Promise<() => void | Promise<void>>;
  /** Writes in one transaction: everything is stored when this returns, or nothing. */
  readonly write: (write: StoreWrite) => Promise<readonly WrittenDocument[]>;
  /** Removes documents by uri; returns how many chunks went with them. Unknown uris are ignored. */
  readonly deleteDocuments: (uris: readonly string[]) => Promise<{
    /** Documents that were stored and are gone. */
    readonly documents: number;
    /** Chunks that went with them. */
    readonly chunks: number;
  }>;
  /** Stored vectors among `keys`, by `vectorKey(chunk)`. */
  readonly knownVectors: (keys: readonly string[]) => Promise<ReadonlyMap<string, Float32Array>>;
  /**
   * Notes stored under these uris; see `StoreWrite`. Absent: the store keeps none, and every run reads and cuts
   * everything.
   */
  readonly notes?: (uris: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /**
   * A document with its chunks as `write` takes them, chunks in order; `undefined` for an unknown uri. Absent: the store
   * cannot be copied from.
   */
  readonly documentWithChunks?: (uri: string) => Promise<DocumentWrite | undefined>;
  /** Counts what is stored, without reading it. */
  readonly counts: () => Promise<StoreCounts>;
  /** Asks the folder or the database for the sizes of its parts, of which there are few. Absent: the store cannot tell. */
  readonly sizes?: () => Promise<StoreSizes>;
  /**
   * Reads the whole store and checks that it is what was written: a single altered byte is found, and named with the
   * document or vector that it belongs to. Takes about ten seconds per gigabyte.
   */
  readonly verify: (options?: VerifyOptions) => Promise<Verification>;
  /**
   * Waits until all derived indexes hold what was written, saves them, and releases every file and thread. If the
   * signal aborts, they are saved as far as they are built: the next process to open the store continues from there.
   */
  readonly close: (options?: CloseOptions) => Promise<void>;
}
