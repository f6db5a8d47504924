import type { Usage } from "../types.js";
import type { Judgement } from "./judge-answer.js";

/** Judgements of many answers. */
export interface JudgedAnswers {
  /** Answers that were judged, and judgements that could not be had or read: in no mean. */
  readonly answers: number;
  readonly failed: number;
  /** Means, 0 to 1; undefined when nothing was judged. */
  readonly faithfulness: number | undefined;
  readonly relevance: number | undefined;
  readonly usage: Usage;
  /** The first few reasons of those that failed. */
  readonly problems: readonly string[];
}

const mostProblems = 5;

/** Adds judgements up. */
export class JudgeTally {
  #answers = 0;
  #failed = 0;
  #faithfulness = 0;
  #relevance = 0;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  readonly #problems: string[] = [];

  add(judgement: Judgement): void {
    const { inputTokens, outputTokens } = judgement.usage;
    this.#usage = {
      inputTokens: this.#usage.inputTokens + inputTokens,
      outputTokens: this.#usage.outputTokens + outputTokens,
    };
    if ("problem" in judgement) {
      this.#failed++;
      if (this.#problems.length < mostProblems) this.#problems.push(judgement.problem);
      return;
    }
    this.#answers++;
    this.#faithfulness += judgement.faithfulness;
    this.#relevance += judgement.relevance;
  }

  result(): JudgedAnswers {
    const mean = (sum: number) => (this.#answers === 0 ? undefined : sum / this.#answers);
    return {
      answers: this.#answers,
      failed: this.#failed,
      faithfulness: mean(this.#faithfulness),
      relevance: mean(this.#relevance),
      usage: this.#usage,
      problems: this.#problems,
    };
  }
}
