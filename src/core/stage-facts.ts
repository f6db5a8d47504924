import { OptionsError } from "./errors.js";

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
