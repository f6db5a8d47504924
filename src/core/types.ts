import type { WaitingAnswer, WaitingCall } from "./approval.js";
import type { TransportErrorCode } from "./errors.js";
import type { Filter } from "./filter.js";

/** A value that survives `JSON.stringify` and back. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Facts about a document beside its text: `{ product: "auth", year: 2026 }`. */
export type Metadata = Readonly<Record<string, Json>>;

/** A place in a document that people have a name for: a page, a line, a heading. */
export interface Anchor {
  /** Offset into `Document.text`, in UTF-16 code units, from which this anchor holds. */
  readonly start: number;
  /** 1-based page of the original file. */
  readonly page?: number;
  /** 1-based line of the original file. */
  readonly line?: number;
  /** Time at which it is said in a recording, in seconds from its start. */
  readonly seconds?: number;
  /**
   * Level, 1 to 6, of the heading that starts here and goes on to the next empty line, in a text whose own marks say
   * nothing of headings.
   */
  readonly heading?: number;
  /**
   * The picture that a model's description of starts here; `false` where the document's own words go on. Default: as before
   * it.
   */
  readonly picture?: PictureOrigin | false;
  /**
   * Boxes of the words of a scanned page that starts here, in the order of its text, where words are separated by white space:
   * eight characters each, two for the left, top, right and bottom edge, in base 36, in 1,295ths of the page's width and height
   * as a reader shows it. `--------` for a word without a box. Chunks do not have it.
   */
  readonly wordBoxes?: string;
}

/** A picture of a document, and who described it: the words are not the document's own. */
export interface PictureOrigin {
  /** SHA-256 of the picture's file, in hexadecimal. */
  readonly sha256: string;
  /** Media type of the picture, such as `image/png`. */
  readonly mediaType: string;
  /** Id of the model whose words they are. */
  readonly describedBy: string;
}

/** A text with an address. Each `uri` names one document: reading it again replaces what was stored. */
export interface Document {
  /** Identity and address: `file:///docs/setup.md`, `https://…`, or any string that is unique and stays. */
  readonly uri: string;
  /** The text that chunks are spans of and citations point into. Never trimmed or normalised by a stage. */
  readonly text: string;
  /** Name for people. It is searched together with the text, and shown beside citations. */
  readonly title?: string;
  /**
   * Facts that filters test: JSON values by name, at most 100 levels deep. They are not embedded, and not searched for
   * words. A `Date` is stored as its ISO 8601 text, and a field that is `undefined` is left out. Any other value that
   * is not JSON fails the document, with the field's path: NaN and Infinity, BigInts, functions, symbols, Maps, Sets
   * and other instances of classes, gaps in lists, and objects that hold themselves.
   */
  readonly metadata?: Metadata;
  /** Decides how blocks are found: `text/markdown` or `text/plain` (default). */
  readonly mediaType?: string;
  /** In order of `start`. Absent when lines of `text` are lines of the file. */
  readonly anchors?: readonly Anchor[];
  /** Id of the source that owns this document: only a complete run over that source may delete it. */
  readonly source?: string;
  /** Validators of this version, so that it is fetched again only when it changed. Never shown or searched. */
  readonly revision?: Revision;
}

/** Validators that the server sent with the version of a page that was read (RFC 9110). */
export interface Revision {
  /** The server's `ETag` header. */
  readonly etag?: string;
  /** The server's `Last-Modified` header. */
  readonly lastModified?: string;
  /** Digest of the metadata that the reader put on the page. Absent when it put none. */
  readonly metadataDigest?: string;
}

/** A part of a text, in UTF-16 code units: `text.slice(start, end)`. */
export interface Span {
  /** Offset of the first code unit. */
  readonly start: number;
  /** Offset just behind the last. */
  readonly end: number;
}

/** A slice of a document. Chunks of one document cover its text, in order of `start`; neighbours may overlap. */
export interface Chunk {
  /** Hash of document id, text and occurrence: unchanged text keeps its id. */
  readonly id: string;
  /** `Document.uri` of the document it is a slice of. */
  readonly documentId: string;
  /** Offsets into `Document.text`, in UTF-16 code units: `text === document.text.slice(start, end)`. */
  readonly start: number;
  /** Offset just behind the last code unit. */
  readonly end: number;
  /** The slice itself. */
  readonly text: string;
  /** The title and the headings above the slice, which a reader of the slice alone would miss. May be empty. */
  readonly context: string;
  /** Tokens of `embeddingText(chunk)`, that is of context and text as they are sent. */
  readonly tokens: number;
  /**
   * Span of `Document.text` that holds the chunk and is read in its place when more is wanted: the section it stands in, or
   * what stands around it. Absent when that is the chunk itself.
   */
  readonly parent?: Span;
}

/** A chunk on its way into a store. Chunks of one document follow one another without a gap. */
export interface DocumentChunk extends Chunk {
  /** The document it is a slice of. */
  readonly document: Document;
}

/** An item with its vector. `space` names the vector space, so that vectors of two models never meet. */
export type Embedded<Item, Space extends string = string> = Item & {
  /** The vector, of the length that the space has. */
  readonly vector: Float32Array;
  /** `Embedder.space` of the embedder that made it. */
  readonly space: Space;
};

/** The result of writing one document. */
export interface StoredDocument {
  /** `Document.uri` of the document. */
  readonly storedUri: string;
  /**
   * Whether a document of that uri was stored before; `unchanged` if the same version was already stored, for example
   * by another run.
   */
  readonly outcome: "added" | "updated" | "unchanged";
  /** Chunks that the document has now. */
  readonly chunks: number;
  /** Chunks of its earlier version that were deleted. */
  readonly deletedChunks: number;
}

/**
 * A service's own notes on a tool call, which it wants back with the call: Gemini refuses a call without the signature of the thought
 * that led to it.
 */
export type ExtraContent = Readonly<Record<string, unknown>>;

/** A tool call with its result: a unit, so that no history can hold one without the other. */
export interface ToolExchange {
  /** The call's id, as the model gave it. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** Arguments as the model wrote them: a JSON text, which may be invalid. */
  readonly arguments: string;
  /** Extra content as the reply had it. Default: none. */
  readonly extraContent?: ExtraContent;
  /** Result that the model was told. */
  readonly result:
    | {
        /** The tool's result, as text. */
        readonly content: string;
      }
    | {
        /** Reason for the missing result. */
        readonly error: string;
      };
}

/** One turn of a conversation. */
export type Turn =
  | {
      /** Role of the speaker; `system` gives instructions. */
      readonly role: "system" | "user";
      /** The words, as plain text. */
      readonly text: string;
    }
  | {
      readonly role: "assistant";
      /** The words, as plain text without citation numbers. */
      readonly text: string;
      /** Tools that it called before it answered, in order. Default: none. */
      readonly tools?: readonly ToolExchange[];
    };

/** Another wording to search for, in addition to the question's own and never in its place. */
export interface QueryVariant {
  /** `question`: searched for like it. `passage`: made up, embedded like a document and searched for by vector alone. */
  readonly kind: "question" | "passage";
  /** The wording, or the made-up passage. */
  readonly text: string;
  /** Vector of the text, in the space of the question's own vector. */
  readonly vector?: Float32Array;
}

/** A question as it was asked, or as the stages before the search reworded it. */
export interface Question {
  /** The words that are searched for. */
  readonly question: string;
  /** The original wording, where `question` is another one. */
  readonly asked?: string;
  /** Earlier turns, oldest first. */
  readonly history?: readonly Turn[];
  /** Pictures that go with the question, each `data:image/FORMAT;base64,…` or an http(s) address, at most 9. Default: none. */
  readonly images?: readonly string[];
  /** Words of a model about `images`, which are part of `question`. Absent while nobody described them. */
  readonly imageDescription?: {
    /** The question without the description. */
    readonly question: string;
    /** The description. */
    readonly text: string;
    /** Id of the model that described them. */
    readonly model: string;
  };
  /** Phrases that every hit has to hold word for word, in its text or its headings. */
  readonly phrases?: readonly string[];
  /** Restricts the hits to documents that it admits. */
  readonly filter?: Filter;
  /** Words and phrases that no hit may hold: a single word is compared by its stem, several word for word. */
  readonly not?: readonly string[];
  /** Other wordings that are searched for too. Default: none. */
  readonly variants?: readonly QueryVariant[];
  /** Steps that the question went through so far. */
  readonly trace?: readonly TraceStep[];
  /** Tokens that models have counted on the way so far. */
  readonly usage?: Usage;
  /** The requests behind `usage`, embeddings and reranking included. */
  readonly requests?: readonly ModelRequest[];
  /** Steps that did less than they were asked to, one line each; they become `Answer.warnings`. Default: none. */
  readonly warnings?: readonly string[];
}

/** Retriever that found a chunk, with the rank it gave. */
export interface Placement {
  /** `dense`, `lexical`, `latent`, `fused`, `closeness`, `name`, `rerank`, or the name of a retriever of your own. */
  readonly by: string;
  /** Rank, from 1. */
  readonly rank: number;
  /** Score in the retriever's own scale; higher is better. Scores of two retrievers are not comparable. */
  readonly score: number;
}

/** A chunk that was found, with every rank it was given. */
export interface Hit {
  /** The passage that was found. */
  readonly chunk: Chunk;
  /** `Document.uri` of its document. */
  readonly uri: string;
  /** `Document.title` of its document. */
  readonly title?: string;
  /** `Document.metadata` of its document. */
  readonly metadata?: Metadata;
  /** Where the chunk starts in the original file: 1-based line and page, where known. */
  readonly line?: number;
  /** 1-based page of the original file. */
  readonly page?: number;
  /** Time at which the chunk starts in a recording, in seconds from its start. */
  readonly seconds?: number;
  /** The picture that the chunk's start describes. Absent: the words are the document's own. */
  readonly picture?: PictureOrigin;
  /** Anchors of the document inside the chunk's span. Absent when lines of the text are lines of the file. */
  readonly anchors?: readonly Anchor[];
  /** The spans that were found, best first, where `chunk` was widened around them; offsets into the document's text. */
  readonly matched?: readonly Span[];
  /** Score of the last step that ranked it; higher is better. */
  readonly score: number;
  /** Every step that ranked it, in the order of the steps. */
  readonly placements: readonly Placement[];
}

/** One step from question to answer: the chunks that it kept and dropped, by id. */
export interface TraceStep {
  /** Name of the step: `search hybrid`, `rerank`, `answer` and so on. */
  readonly step: string;
  /** Chunk ids that went on, best first. */
  readonly kept: readonly string[];
  /** Chunk ids that this step left out, each with the reason. */
  readonly dropped: readonly {
    /** `Chunk.id` of the chunk. */
    readonly chunkId: string;
    /** Reason, in words. */
    readonly reason: string;
    /** Id of the chunk that stands in its place: one with the same text, or the one that it became a part of. */
    readonly into?: string;
  }[];
  /** Present when a step did less than it was asked to: "reranker unreachable: the order of the search was kept". */
  readonly note?: string;
  /** Time that the step took. */
  readonly milliseconds?: number;
  /** For a search: the results of each retriever before they were fused. */
  readonly lists?: readonly RankedList[];
}

/** The results of one retriever, best first. Both arrays have one entry a chunk. */
export interface RankedList {
  /** `dense`, `lexical`, or with `(variant n)` behind it for another wording of the question. */
  readonly by: string;
  /** Number of chunks that were asked for; fewer hits mean that there are no more. */
  readonly asked: number;
  /** Ids of the chunks, best first. */
  readonly chunkIds: readonly string[];
  /** Their scores, in the retriever's own scale. */
  readonly scores: readonly number[];
}

/** The outcome of one step for a chunk. */
export interface ChunkStep {
  /** `TraceStep.step` of the step. */
  readonly step: string;
  /** `absent`: the step never saw it, because an earlier one dropped it or the step does not work on chunks. */
  readonly outcome: "kept" | "dropped" | "absent";
  /** Rank among the chunks that the step kept, from 1. */
  readonly rank?: number;
  /** Reason for dropping it, in words. */
  readonly reason?: string;
  /** Id of the chunk that stands in its place; see `TraceStep.dropped`. */
  readonly into?: string;
  /** For a search: its rank with each retriever, or why it has none. */
  readonly retrievers?: readonly RetrieverView[];
}

export interface RetrieverView {
  /** `RankedList.by` of the retriever. */
  readonly by: string;
  /** 1-based rank; absent when it did not find the chunk. */
  readonly rank?: number;
  /** Score in the retriever's own scale. */
  readonly score?: number;
  /** Why it has no rank: how far the retriever looked, and what that says. */
  readonly reason?: string;
}

/** A chunk's way through a trace. */
export interface ChunkHistory {
  /** `Chunk.id` that was asked for. */
  readonly chunkId: string;
  /** Whether the last step that had to do with chunks kept it. */
  readonly kept: boolean;
  /** Every step of the trace in order. */
  readonly steps: readonly ChunkStep[];
  /** The answer in one sentence. */
  readonly summary: string;
}

/** The steps of a question in order, which can be asked for any chunk. */
export interface Trace extends ReadonlyArray<TraceStep> {
  /** Reports which steps kept a chunk, at which rank, and which one lost it and why; also for chunks that were never found. */
  readonly why: (chunkId: string) => ChunkHistory;
}

/** A question with what was found for it, best first. */
export interface Retrieved extends Question {
  /** Passages, best first. */
  readonly hits: readonly Hit[];
  /** The question as it was searched for, where words of it were not in the store and were corrected. */
  readonly searchedFor?: string;
  /** Steps from the question to these hits. */
  readonly trace: readonly TraceStep[];
}

/** Tokens that the service says it counted. */
export interface Usage {
  /** Tokens of the request. */
  readonly inputTokens: number;
  /** Tokens of the reply; 0 for models that make no text. */
  readonly outputTokens: number;
  /** The service's own total, where a single reply reports one; it may include tokens that the two above do not. */
  readonly totalTokens?: number;
  /** Tokens of thinking, if one reply reports them. Most services count them among `outputTokens`. */
  readonly reasoningTokens?: number;
  /** Part of `inputTokens` that the service took from its prompt cache, if it reports that. */
  readonly cachedTokens?: number;
}

/** Price of a million tokens, in the caller's currency. */
export interface Price {
  /** Price of a million input tokens. */
  readonly input: number;
  /** Price of a million input tokens from the service's cache. Default: `input`. */
  readonly cachedInput?: number | undefined;
  /** Price of a million output tokens. Default: 0, for models without a written reply. */
  readonly output?: number | undefined;
}

/** Cost of the tokens; `undefined` without a price. */
export function costOf(
  { inputTokens, outputTokens, cachedTokens = 0 }: Usage,
  price: Price | undefined,
): number | undefined {
  if (!price) return undefined;
  const { input, cachedInput = input, output = 0 } = price;
  const cached = Math.min(cachedTokens, inputTokens);
  return withoutNoise(((inputTokens - cached) * input + cached * cachedInput + outputTokens * output) / 1e6);
}

/**
 * An amount without the rounding noise of binary fractions: 0.0038908600000000003 is 0.00389086. Twelve digits are a
 * millionth of a cent in a million.
 */
export function withoutNoise(amount: number): number {
  return Number(amount.toPrecision(12));
}

/** A failed attempt at a request. It is unknown whether the service charged for it, and how much. */
export interface FailedAttempt {
  /** Code of the `TransportError` that it would have thrown; `aborted` if its time was up. */
  readonly code: TransportErrorCode | "aborted";
  /** HTTP status, where the service answered. */
  readonly status?: number;
}

/** One request to a model on the way to an answer, with all attempts at it. */
export interface ModelRequest {
  /** Step that asked: `condense`, `embed-question`, `rerank`, `answer`; prefixed with the tool's name if a tool searched. */
  readonly step: string;
  /** Id of the model. */
  readonly model: string;
  /** Messages that were sent, for a chat. */
  readonly messages?: number;
  /** Tokens of the request, as the service counted them; absent if it answered without a count. */
  readonly inputTokens?: number;
  /** Tokens of the reply, as the service counted them. */
  readonly outputTokens?: number;
  /** Tokens of thinking, as in `Usage`. */
  readonly reasoningTokens?: number;
  /** Part of `inputTokens` that the service took from its cache, as in `Usage`. */
  readonly cachedTokens?: number;
  /** Cost by the transport's `prices`; absent if the model has none, or the tokens are not known. */
  readonly cost?: number;
  /** Time from the call to its end, with all attempts and waits. */
  readonly milliseconds: number;
  /** Attempts that failed, in order. Absent if the first one was answered. */
  readonly failedAttempts?: readonly FailedAttempt[];
  /** True where no attempt was answered and the question went on without: its tokens are 0, as far as is known. */
  readonly unanswered?: true;
}

/** The account of an answer, from the question to the bill, as plain JSON data. */
export interface AnswerAccount {
  /** The question and what came with it. */
  readonly asked: {
    /** The question in the user's words. */
    readonly question: string;
    /** The wording that was searched for in its place. */
    readonly standalone?: string;
    /** Restriction of the documents, if any. */
    readonly filter?: Filter;
    /** Number of earlier turns. */
    readonly historyTurns: number;
  };
  /** The chunks found, kept and dropped, step by step: the steps of `Answer.trace`. */
  readonly trace: readonly TraceStep[];
  /** The requests that were sent. */
  readonly requests: readonly ModelRequest[];
  /**
   * Totals of the requests that were answered; `cost` only where every model that was asked has a price, and every service
   * counted. `uncounted` are the requests without a count, absent where there are none. The cost of `failedAttempts` is not
   * known.
   */
  readonly paid: Usage & {
    /** Cost by the transport's `prices`. */
    readonly cost?: number;
    /** Number of attempts that failed. The service's charge for them is not known. */
    readonly failedAttempts: number;
    /** Number of requests that were answered without a count. */
    readonly uncounted?: number;
  };
  /** Time that each step took; `answer` is from the sources to the end, with all that its tools did. */
  readonly milliseconds: Readonly<Record<string, number>>;
}

/**
 * How a citation's words were found in its source. `exact`: character by character. `normalised`: every word, number and
 * symbol in this order; case, white space, punctuation, typography and markup may differ, and an ellipsis may stand for
 * some words that deny nothing. `near`: most of the words stand close together there, but not these. `missing`: not there.
 */
export type Support = "exact" | "normalised" | "near" | "missing";

/** A pointer from the answer into a source, after it was checked against the stored text. */
export interface Citation {
  /** Number that the reader sees, `[1]`: sources are numbered in the order in which the answer first cites them. */
  readonly number: number;
  /** `Chunk.id` of the passage that the answer points to. */
  readonly chunkId: string;
  /** `Document.uri` of its document. */
  readonly uri: string;
  /** `Document.title` of its document. */
  readonly title?: string;
  /**
   * Offsets of `quote` into the document's text, in UTF-16 code units; of the nearest sentences when `near`, of the chunk
   * when `missing`.
   */
  readonly start: number;
  /** Offset just behind the last code unit of `quote`. */
  readonly end: number;
  /** The document's own words at `start..end`; what the model claimed to quote when unsupported. */
  readonly quote: string;
  /** 1-based line of the original file at `start`; page likewise, where the document has pages. */
  readonly line?: number;
  /** 1-based page of the original file at `start`, where the document has pages. */
  readonly page?: number;
  /** Time at `start` in a recording, in seconds from its start, where the document has times, as subtitles do. */
  readonly seconds?: number;
  /** The picture that the words describe: they are a model's, not the document's own. Absent where they are the document's. */
  readonly picture?: PictureOrigin;
  /** True when `support` is `exact` or `normalised`: the document holds those words there. */
  readonly supported: boolean;
  /** How the words were found at `start..end`. */
  readonly support: Support;
  /** Present when the words stand there, but are struck out: the document does not say them any more. */
  readonly struckOut?: true;
  /**
   * The whole sentences of the document that `start..end` lies in, with up to 500 code units on either side: a quote that
   * ends early may leave out what turns it. Absent when `missing`.
   */
  readonly sentence?: CitedSentence;
}

/** Text of a document around a citation. */
export interface CitedSentence extends Span {
  /** The document's text at `start..end`. */
  readonly text: string;
}

/**
 * Events of an answer while it is made. A stream of these ends with exactly one `finish` or `error`, and nothing
 * follows it. `Value`: what the answer's schema returns, where it was given one.
 */
export type AnswerEvent<Value = unknown> =
  | {
      readonly type: "retrieved";
      /** The passages that the answer is made from, best first. */
      readonly hits: readonly Hit[];
      /** Steps from the question to these hits. */
      readonly trace: readonly TraceStep[];
      /** The question as it was searched for, where words of it were corrected: as in `Retrieved`. */
      readonly searchedFor?: string;
    }
  | {
      readonly type: "reasoning-delta";
      /** The next piece of the model's thinking. */
      readonly text: string;
    }
  | {
      readonly type: "text-delta";
      /** The next piece of the answer. The number of a citation, `[1]`, is a piece of its own. */
      readonly text: string;
    }
  | {
      readonly type: "tool-call";
      /** Names the call in `approval` and `tool-result`. */
      readonly id: string;
      /** Name of the tool. */
      readonly name: string;
      /** The arguments that the model wrote. */
      readonly input: unknown;
    }
  /** The decision on a call of a tool that writes; it comes before the call's result. */
  | {
      readonly type: "approval";
      /** Id of the call that was decided on. */
      readonly id: string;
      /** Name of the tool. */
      readonly name: string;
      /** The arguments that the model wrote. */
      readonly input: unknown;
      /** Whether the call may run. */
      readonly approved: boolean;
    }
  /** A call that waits for a decision. The answer then ends as waiting; see `Answer.waiting`. */
  | ({ readonly type: "approval-needed" } & WaitingCall)
  | {
      readonly type: "tool-result";
      /** Id of the call that is over. */
      readonly id: string;
      /** Name of the tool. */
      readonly name: string;
      /** Value that the tool returned. Absent if it failed. */
      readonly output?: unknown;
      /** Why there is no output: what the model is told. */
      readonly error?: string;
    }
  | {
      readonly type: "citation";
      /** A checked citation; its number stands in the text right before. */
      readonly citation: Citation;
    }
  | {
      readonly type: "warning";
      /** One line for people. */
      readonly message: string;
      /** `claims`: the line sums up the `remarks` of the answer. Absent for all else. */
      readonly about?: "claims";
    }
  | {
      readonly type: "finish";
      readonly answer: Answer<Value>;
    }
  /** The answer failed or was stopped; `account` is present if its sources were there by then. */
  | {
      readonly type: "error";
      /** Why there is no answer. After an abort it is the caller's own reason, if that is an `Error`. */
      readonly error: Error;
      /** Account up to the end. Present if the answer failed or was stopped after its sources were there. */
      readonly account?: AnswerAccount;
    };

/** Why a reply ended. `length`: at its limit of tokens. `other`: for a reason that the service alone knows. */
export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "other";

/** A place of an answer's text that claims something which no source was shown to say. */
export interface AnswerRemark {
  /** Offset of its first character in the answer's text, in UTF-16 code units. */
  readonly start: number;
  /** Offset just behind its last character. */
  readonly end: number;
  /** `missing`: it quotes words that its source does not hold; `near`: only similar ones; `uncited`: it cites nothing. */
  readonly reason: "missing" | "near" | "uncited";
}

/** Passages nearest to a question that the sources do not answer. */
export interface NearestPassages {
  /** At most three passages, best first. */
  readonly hits: readonly Hit[];
  /** At most three headings of what was found, which can be asked about. */
  readonly headings: readonly string[];
}

/** A whole answer. `Value`: what its schema returns, where it was given one. */
export interface Answer<Value = unknown> {
  /** The question in the user's words, also where another wording was searched for. */
  readonly question: string;
  /** The question as it was searched for and answered, where words of it were corrected: as in `Retrieved`. */
  readonly searchedFor?: string;
  /** The answer's text. With a schema: the value as the model wrote it, in JSON; a value that is a text as that text. */
  readonly text: string;
  /** Value as the schema returned it. Absent without a schema, and when the sources do not hold the answer. */
  readonly value?: Value;
  /** False when the sources do not hold the answer; `nearest` then says what they hold instead. */
  readonly answered: boolean;
  /** Passages nearest to the question. Present when it was not answered, and something was found. */
  readonly nearest?: NearestPassages;
  /** The places of `text` that claim something without a citation that holds, in order. */
  readonly remarks: readonly AnswerRemark[];
  /** Checked citations, in the order of the text. */
  readonly citations: readonly Citation[];
  /** The passages that it was made from, those that tools found included. */
  readonly hits: readonly Hit[];
  /** Every step from the question to the answer; `trace.why(chunkId)` tells where a chunk was lost. */
  readonly trace: Trace;
  /**
   * Tokens of the chat model alone, as far as its service counted them; absent if it reported no count. `account` has
   * the rest.
   */
  readonly usage?: Usage | undefined;
  /** Requests, tokens, cost and time, from the question to the answer. */
  readonly account: AnswerAccount;
  /** The model that answered, as the service named it. */
  readonly model: string;
  /**
   * Why the model's last reply ended. `length`: at its limit of tokens, so that the text is cut off. `tool-calls`: calls wait,
   * or the model would have called a tool after the last round. `stop` also where no model was asked.
   */
  readonly finishReason: FinishReason;
  /** This turn, to be passed on as history. */
  readonly turn: Turn;
  /** One line each about what did less than it was asked to. */
  readonly warnings: readonly string[];
  /**
   * Present when calls of tools wait for approval: pass it to `resume` with the decisions. The rest of the answer is then as
   * far as it came, and `answered` is false.
   */
  readonly waiting?: WaitingAnswer;
}
