import { OptionsError } from "./errors.js";
import type {
  AnswerEvent,
  Chunk,
  Document,
  DocumentChunk,
  Embedded,
  Question,
  Retrieved,
  StoredDocument,
} from "./types.js";

/**
 * Limits that a stage promises for the items it hands on, or demands of those it takes. All are optional, and an absent one
 * is not checked.
 */
export interface Facts {
  /** Maximum length of a text to embed or rerank, in tokens. */
  readonly chunkTokens?: number;
  /** Vector space of the items' vectors. */
  readonly space?: string;
  /** Length of the items' vectors. */
  readonly dimension?: number;
  /** Maximum number of hits that an item carries. */
  readonly hits?: number;
}

export interface StageFacts {
  /** Holds for every item that leaves. A fact that is not stated is handed on as it came. */
  readonly gives?: Facts;
  /** Must hold for every item that comes: at most this many tokens or hits, exactly this space and dimension. */
  readonly takes?: Facts;
}

/** Demands of a pipeline on its items: its own, and those of a later stage that nothing before it settled. */
export function demands({ gives = {}, takes = {} }: StageFacts, later: Facts = {}): Facts {
  const open = Object.entries(later).filter(([fact]) => gives[fact as keyof Facts] === undefined);
  return {
    ...Object.fromEntries(open),
    ...takes,
    ...stricter("chunkTokens", takes, Object.fromEntries(open)),
    ...stricter("hits", takes, Object.fromEntries(open)),
  };
}

function stricter(fact: "chunkTokens" | "hits", one: Facts, other: Facts): Facts {
  const limits = [one[fact], other[fact]].filter((limit) => limit !== undefined);
  return limits.length === 0 ? {} : { [fact]: Math.min(...limits) };
}

/** @throws OptionsError (`facts`) when the stage `next` takes less than the stages before it give. */
export function checkFacts(before: string, given: Facts, next: string, taken: Facts): void {
  const refuse = (problem: string, fix: string): never => {
    throw new OptionsError("facts", `${before} > ${next}: ${problem}. ${fix}`);
  };
  if (exceeds(given.chunkTokens, taken.chunkTokens)) {
    refuse(
      `chunks of up to ${given.chunkTokens} tokens meet a limit of ${taken.chunkTokens} tokens`,
      `Set maxTokens of chunk() to ${taken.chunkTokens} or less, or pass the model to it: chunk({ for: embedder })`,
    );
  }
  if (given.space !== undefined && taken.space !== undefined && given.space !== taken.space) {
    refuse(
      `vectors of ${given.space} meet a stage that holds vectors of ${taken.space}`,
      `Use one embedder on both sides, or index again with ${given.space}`,
    );
  }
  if (given.dimension !== undefined && taken.dimension !== undefined && given.dimension !== taken.dimension) {
    refuse(
      `vectors of ${given.dimension} dimensions meet a stage that holds ${taken.dimension}`,
      "Use one embedder on both sides",
    );
  }
  if (exceeds(given.hits, taken.hits)) {
    refuse(
      `up to ${given.hits} hits meet a limit of ${taken.hits}`,
      `Set count of search() or topN of rerank() to ${taken.hits} or less`,
    );
  }
}

function exceeds(given: number | undefined, limit: number | undefined): boolean {
  return given !== undefined && limit !== undefined && given > limit;
}

/**
 * A stage that takes what the stages before it give. Where it takes something else, this is a sentence that names both and the
 * stage which is missing between them, and the compiler shows it alone: a stage is no sentence.
 */
export type StageFor<Given, Taken, Next> = [Given] extends [Taken] ? Next : Order<Given, Taken>;

type Order<Given, Taken> =
  Taker<Taken> extends never
    ? Unknown<Given>
    : Giver<Given> extends never
      ? Unknown<Given>
      : `${Taker<Taken>}, but ${Giver<Given>}: ${Remedy<Given, Taken>}`;

/** Kinds of items that are no kind of ours are compared with what came before, field by field. */
interface Unknown<Given> {
  /** Takes what comes. */
  readonly run: (source: AsyncIterable<Given>) => AsyncIterable<unknown>;
}

type Taker<Taken> = [Taken] extends [Embedded<Chunk>]
  ? "store() takes chunks with vectors"
  : [Taken] extends [Chunk]
    ? "embedChunks() and skipKnown() take chunks"
    : [Taken] extends [Document]
      ? "chunk() takes documents"
      : [Taken] extends [Retrieved]
        ? "rerank() and answer() take questions with their hits"
        : [Taken] extends [Embedded<Question>]
          ? "search() takes questions with vectors"
          : [Taken] extends [Question]
            ? "embedQuestion() takes questions"
            : never;

type Giver<Given> = [Given] extends [Embedded<Chunk>]
  ? "embedChunks() gives chunks with vectors"
  : [Given] extends [Chunk]
    ? "chunk() gives chunks without vectors"
    : [Given] extends [Document]
      ? "documents come"
      : [Given] extends [StoredDocument]
        ? "store() gives what was stored"
        : [Given] extends [AnswerEvent]
          ? "answer() gives the events of an answer"
          : [Given] extends [Retrieved]
            ? "search() gives questions with their hits"
            : [Given] extends [Embedded<Question>]
              ? "embedQuestion() gives questions with vectors"
              : [Given] extends [Question]
                ? "questions come without vectors"
                : never;

type Remedy<Given, Taken> = [Taken] extends [Embedded<Chunk>]
  ? [Given] extends [Embedded<DocumentChunk>]
    ? "they are of another model, so use one embedder for both"
    : [Given] extends [DocumentChunk]
      ? "pipe embedChunks(embedder) between them"
      : [Given] extends [Chunk]
        ? "they lost their document, so keep the field `document`"
        : [Given] extends [Document]
          ? "pipe chunk() and embedChunks(embedder) between them"
          : "no stage leads from one to the other"
  : [Taken] extends [Chunk]
    ? [Given] extends [Document]
      ? "pipe chunk() between them"
      : [Given] extends [Chunk]
        ? "they lost their document, so keep the field `document`"
        : "no stage leads from one to the other"
    : [Taken] extends [Document]
      ? [Given] extends [Chunk]
        ? "they were chunked before, so leave one out"
        : "no stage leads from one to the other"
      : [Taken] extends [Retrieved]
        ? [Given] extends [Embedded<Question>]
          ? "pipe search(store) between them"
          : [Given] extends [Question]
            ? "pipe embedQuestion(embedder) and search(store) between them"
            : "no stage leads from one to the other"
        : [Taken] extends [Embedded<Question>]
          ? [Given] extends [Embedded<Question>]
            ? "they are of another model, so use one embedder for both"
            : [Given] extends [Question]
              ? "pipe embedQuestion(embedder) between them, or search by words with mode lexical"
              : "no stage leads from one to the other"
          : "no stage leads from one to the other";

/**
 * The stages before, by what leaves them. A stage that may take anything takes that: it is inferred here first.
 */
export interface Leaving<Item, Context> {
  /** Runs the stages. */
  readonly run: (source: AsyncIterable<never>, context: Context) => AsyncIterable<Item>;
}
