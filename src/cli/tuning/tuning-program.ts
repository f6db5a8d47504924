import type { CliCommand } from "../cli-command.js";
import { between } from "../settings/flag-values.js";

/** Adds `make` to `citewell eval`. */
export function addMakeCommand(evaluating: CliCommand): void {
  evaluating
    .command("make")
    .description(
      "make questions about the documents of a store, each with the passage that answers it, for eval and tune",
    )
    .option(
      "--output <file>",
      "write them there, one JSON object a line, to be read and mended (default: questions.jsonl)",
    )
    .option("--count <number>", "questions to make (default: 100)", between(1, 100_000))
    .option(
      "--kinds <kind...>",
      "direct, paraphrased, comparison, procedure, several-passages, unanswerable (default: all)",
    )
    .option("--seed <number>", "seed of the passages that are drawn (default: 1)", between(0, 2 ** 32 - 1))
    .option(
      "--from-conversations",
      "take the questions that people asked instead, with the passages that answers cited",
    )
    .option("--redact", "with --from-conversations: put [mail], [number] and [link] in place of such words")
    .takesChatBudget()
    .takesStore()
    .examples(`
  $ citewell eval make
  $ citewell eval make --chat-model my-model --count 200 --max-tokens 500000
  $ citewell eval make --kinds direct paraphrased --seed 7 --output direct.jsonl
  $ citewell eval make --from-conversations --redact --output asked.jsonl

Without a chat model questions are made from headings and sentences. They are nearer to the text than what people ask, and so
weaker. Paid replies are kept beside the output until it is complete: run the same command again after it was stopped.`)
    .runs(async () => (await import("./make-command.js")).makeCommand);
}
