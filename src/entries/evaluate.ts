/** `citewell/evaluate`: judged collections, metrics of retrieval and answers, comparisons, made questions and tuning. */

export { bootstrapInterval, randomisationTest } from "../evaluate/statistics.js";
export type { BootstrapOptions, Interval, RandomisationOptions } from "../evaluate/statistics.js";
export { openCollection, readAnswers } from "../evaluate/collection.js";
export type { Collection, CollectionFiles, JudgedQuery } from "../evaluate/collection.js";
export { compare } from "../evaluate/compare.js";
export type { Comparison, MetricChange } from "../evaluate/compare.js";
export { evaluateAnswers, scoreAnswer } from "../evaluate/evaluate-answers.js";
export type {
  AnswerEvaluation,
  AnswerMetric,
  AnswerScores,
  AnswerableQuery,
  EvaluateAnswersOptions,
} from "../evaluate/evaluate-answers.js";
export { explainLosses } from "../evaluate/explain-losses.js";
export type { AnsweredQuestion, ExplainLossesOptions, Losses } from "../evaluate/explain-losses.js";
export type { Loss, LossKind } from "../evaluate/losses.js";
export { evaluatePassages, readPassageQuestions } from "../evaluate/evaluate-passages.js";
export type {
  EvaluatePassagesOptions,
  ExpectedPlace,
  KindOfAnswers,
  PassageOutcome,
  PassageQuestion,
} from "../evaluate/evaluate-passages.js";
export type { AnswerFlaw } from "../evaluate/answer-flaws.js";
export { evaluate, rankDocuments } from "../evaluate/evaluate.js";
export type { EvaluateOptions, Evaluation, MetricName, Scores } from "../evaluate/evaluate.js";
export { averagePrecision, ndcg, recall, reciprocalRank } from "../evaluate/metrics.js";
export type { Judgements } from "../evaluate/metrics.js";
export { askedQuestions } from "../tuning/asked-questions.js";
export type { AskedQuestionsOptions } from "../tuning/asked-questions.js";
export type { ChatBudgetOptions } from "../tuning/chat-budget.js";
export { makeQuestions } from "../tuning/make-questions.js";
export type { MadeQuestion, MadeQuestions, MakeQuestionsOptions } from "../tuning/make-questions.js";
export type { QuestionKind } from "../tuning/question-requests.js";
export type { QuestionRule } from "../tuning/question-rules.js";
export { tune } from "../tuning/tune.js";
export type { TriedSettings, TuneOptions, TuneProgress, Tuning } from "../tuning/tune.js";
export type { TunedSettings } from "../tuning/candidate-settings.js";
export { judgeAnswers } from "../tuning/judge-answers.js";
export type { AnswerToJudge, JudgeAnswersOptions, JudgedBySentence, JudgedMeasure } from "../tuning/judge-answers.js";
