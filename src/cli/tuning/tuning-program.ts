import { Option } from "commander";
import type { CliCommand } from "../cli-command.js";
import { between, positive } from "../settings/flag-values.js";

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

/** Adds `citewell tune`. */
export function addTuneCommand(program: CliCommand): void {
  program
    .command("tune")
    .description(
      "try settings of search on questions, and write those that are clearly better into citewell.config.json",
    )
    .option("--queries <file>", "questions with their passages (default: made from headings and sentences)")
    .option("--chunk-sizes <tokens...>", "sizes of chunks to try (default: 192 384 768, and the present one)")
    .addOption(
      new Option(
        "--context-lines <which...>",
        "chunks with the title and headings above them, or without (default: as they are, and the other way)",
      ).choices(["with", "without"]),
    )
    .option("--embedding-models <id...>", "embedding models to try beside the present one, at the same service")
    .option("--model-folders <folder...>", "folders of embedding models to try beside the present one")
    .option("--rerank-models <id...>", "rerankers to try beside the present one, at the same service")
    .option("--modes <mode...>", "hybrid, dense, lexical (default: all)")
    .option("--candidates <count...>", "passages that search finds for the reranker (default: 20 40 100)")
    .option("--passages <count...>", "passages that an answer is made from, at most (default: the present number)")
    .option("--always-rerank", "never try without the reranker, where there is one")
    .option("--max-settings <number>", "settings to try in the first round (default: 24)", between(2, 1000))
    .option(
      "--seed <number>",
      "seed of the questions held back and of the settings tried (default: 1)",
      between(0, 2 ** 32 - 1),
    )
    .option("--minutes <number>", "maximum time", positive)
    .option(
      "--max-tokens <count>",
      "maximum tokens of embeddings and reranking, all trials together",
      between(1, Number.MAX_SAFE_INTEGER),
    )
    .option("--max-cost <amount>", "maximum cost of them; needs a price in the settings file", positive)
    .option(
      "--rerank-price <amount>",
      "price of a million tokens of the reranker (default: that of the settings file)",
      positive,
    )
    .option("--work <folder>", "keeps what was measured until the end, to go on from (default: .citewell-tune)")
    .option("--report <file>", "write an HTML page with the settings that were tried; needs vega, vega-lite")
    .option("--yes", "write the settings without asking")
    .takesStore()
    .examples(`
  $ citewell tune
  $ citewell tune --queries questions.jsonl --minutes 10
  $ citewell tune --chunk-sizes 256 512 --modes hybrid dense --report tune.html
  $ citewell tune --queries questions.jsonl --max-tokens 2000000 --yes
  $ citewell tune --queries questions.jsonl --embedding-models BAAI/bge-m3 --rerank-models BAAI/bge-reranker-v2-m3

Half of the questions choose, the other half says whether the choice is better. Chunks of other sizes go into stores of their own,
which are deleted afterwards. No text is embedded twice by the same model, and no passage reranked twice for the same question. Other
embedding models are tried with the chunks of the store. Nothing is written unless you agree.`)
    .runs(async () => (await import("./tune-command.js")).tuneCommand);
}
