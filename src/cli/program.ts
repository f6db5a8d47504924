import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import type { World } from "./command-context.js";
import { withChunking } from "./chunk-flags.js";
import { filterOption } from "./filter-option.js";
import { between, positive } from "./number-option.js";
import { rowsOption } from "./rows-option.js";
import { addVideoCommands } from "./video-program.js";

const aboutFilter = "only documents whose metadata fits, like product=auth, year>=2024, uri^=file:///docs; repeatable";

// Commands load their own code when they run: `--help` and a usage error need none of it.

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** The command line. Each action says its exit code through `exit`. */
export function createProgram(world: World, exit: (code: number) => void): Command {
  const program = new Command("citewell")
    .description("Index a folder of documents, ask it questions, get answers whose every citation was checked.")
    .version(version)
    .option("--debug", "add the stack and causes to an error")
    .configureOutput({
      writeOut: (text) => world.stdout.write(text),
      writeErr: (text) => world.stderr.write(text),
    })
    .exitOverride()
    .showHelpAfterError("Run with --help for usage.")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell index ./docs                     read a folder into ./.citewell
  $ citewell ask "How do I rotate a key?"     an answer with numbered, checked sources
  $ citewell search "key rotation" --limit 5  the passages alone

With no CITEWELL_BASE_URL set, everything runs offline on a local lexical service.
Exit codes: 0 done, 1 done or stopped with failures, 2 misuse, 130 stopped by Ctrl-C
(0 where Ctrl-C is how it is meant to end: local, index --watch).`,
    );

  withChunking(withSource(program.command("index")))
    .description("read files and folders into the store; run again to bring it up to date")
    .option("--max-tokens <count>", "spend no more in this run; the next one goes on", between(1, 1e12))
    .option("--max-cost <amount>", "the same in money; needs a price", positive)
    .option("--watch", "then keep the store current with the files, until Ctrl-C")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell index ./docs
  $ citewell index ./docs --watch
  $ citewell index ./docs ./notes.md --exclude "drafts/**"
  $ citewell index ./docs --price 0.02 --max-cost 1.50
  $ citewell index ./tickets.csv --rows id=key,title=subject,text=body
  $ citewell index https://docs.example.com/guide https://docs.example.com/sitemap.xml
  $ citewell index https://docs.example.com/ --sitemap --requests-per-second 2
  $ citewell index ./docs --json | jq .documents

How documents are cut is kept in the store: a later run cuts them as before, unless it says otherwise.`,
    )
    .action(async (paths: string[], flags) => {
      const { indexCommand } = await import("./index-command.js");
      exit(await indexCommand(world, paths, flags));
    });

  withChunking(withSource(program.command("plan")))
    .description("say what indexing would do and cost: chunks, tokens, requests; sends and changes nothing")
    .addHelpText("after", "\nExample:\n  $ citewell plan ./docs --price 0.02")
    .action(async (paths: string[], flags) => {
      const { planCommand } = await import("./plan-command.js");
      exit(await planCommand(world, paths, flags));
    });

  withChunking(withStore(program.command("migrate")))
    .description(
      "make the store anew with another --embedding-model or other chunks, from the documents it holds; it serves meanwhile",
    )
    .option("--back", "let the store that served before the last migration serve again")
    .option("--accept-failures", "switch without the documents that failed")
    .option("--price <amount>", "of a million tokens of the embedding model, in your currency", positive)
    .option("--max-tokens <count>", "spend no more in this run; the next one goes on", between(1, 1e12))
    .option("--max-cost <amount>", "the same in money; needs a price", positive)
    .addHelpText(
      "after",
      `
Examples:
  $ citewell migrate --embedding-model BAAI/bge-m3
  $ citewell migrate --chunk-tokens 256
  $ citewell migrate --back

Documents are cut as they were, where no flag says otherwise.`,
    )
    .action(async (flags) => {
      const { migrateCommand } = await import("./migrate-command.js");
      exit(await migrateCommand(world, flags));
    });

  withStore(program.command("remove"))
    .description("take documents out of the store: those of files, folders and addresses, also of such that are gone")
    .argument("<place...>", "as it was indexed")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell remove ./old-docs ./notes.md
  $ citewell remove https://docs.example.com/guide

What is gone from a folder that is still there, citewell index takes out by itself.`,
    )
    .action(async (places: string[], flags) => {
      const { removeCommand } = await import("./remove-command.js");
      exit(await removeCommand(world, places, flags));
    });

  withStore(program.command("search"))
    .description("find passages, without an answer")
    .argument("<query>", 'words to look for; "exact phrase" must stand there, -word and -"phrase" must not')
    .addOption(new Option("--mode <mode>", "how to search").choices(["hybrid", "dense", "lexical"]).default("hybrid"))
    .addOption(new Option("--limit <count>", "most passages").argParser(between(1, 1000)).default(10))
    .option("--filter <condition>", aboutFilter, filterOption)
    .addOption(
      new Option("--rerank <count>", "hand so many passages to the reranker first").argParser(between(1, 1000)),
    )
    .option("--why <chunk>", "say at which step a chunk, or those of a document, came in or were lost")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell search "trace sampler" --mode lexical --limit 3
  $ citewell search 'sampler "parent based" -probability'
  $ citewell search "trace sampler" --why docs/sampling.md`,
    )
    .action(async (query: string, flags) => {
      const { searchCommand } = await import("./search-command.js");
      exit(await searchCommand(world, query, flags));
    });

  withStore(program.command("ask"))
    .description("answer a question from the indexed documents, with numbered sources")
    .argument("<question>", "in your own words")
    .option("--filter <condition>", aboutFilter, filterOption)
    .addHelpText("after", '\nExample:\n  $ citewell ask "How do I set the sampler through an environment variable?"')
    .action(async (question: string, flags) => {
      const { askCommand } = await import("./ask-command.js");
      exit(await askCommand(world, question, flags));
    });

  withStore(program.command("chat"))
    .description("a conversation over the indexed documents, one question a line; it is kept in the store")
    .option("--conversation <id>", "go on with this one, or begin it under this name (default: a new one)")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell chat
  $ citewell chat --conversation keys
  $ printf 'How long does a key last?\\nWho may rotate it?\\n' | citewell chat --json`,
    )
    .action(async (flags) => {
      const { chatCommand } = await import("./chat-command.js");
      exit(await chatCommand(world, flags));
    });

  withChunking(program.command("chunk"), "--max-tokens")
    .description("show the chunks that a file becomes")
    .argument("<file>")
    .option("--embedding-model <id>", "take the limit of this model: 8192 for ids ending in m3, 512 for others")
    .option("--base-url <url>", "for the strategy semantic: inference service (CITEWELL_BASE_URL)")
    .option("--api-key <key>", "its key; safer in CITEWELL_API_KEY")
    .option("--config <file>", "settings file (default: ./citewell.config.json)")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell chunk README.md --max-tokens 200
  $ citewell chunk README.md --strategy sentence-window`,
    )
    .action(async (path: string, flags) => {
      const { chunkCommand } = await import("./chunk-command.js");
      exit(await chunkCommand(world, path, flags));
    });

  withStore(program.command("eval"), "where the store is kept, to be used again (default: a temporary one)")
    .description("measure search on a test collection: corpus.jsonl, queries.jsonl, qrels/test.tsv (BEIR layout)")
    .argument("<folder>", "the collection")
    .option("--mode <mode...>", "hybrid (default), dense, lexical; several are measured one after another", searchModes)
    .option("--rerank", "rerank the first 100 passages; recall@100 is then of the documents among them")
    .option("--grid", "measure all modes, with and without reranking, and hybrid with several fusions")
    .option("--limit-queries <count>", "ask only so many, spread evenly over all", between(1, 10_000_000))
    .option("--seed <number>", "with --limit-queries: draw them by chance, by this number", between(0, 2 ** 32 - 1))
    .option("--queries <file>", "default: queries.jsonl in the folder")
    .option("--qrels <file>", "judgements; default: qrels/test.tsv in the folder")
    .option("--report <file>", "write a page with tables, a chart and the queries that changed most, as HTML")
    .option(
      "--answers",
      "measure answers instead, against answers.jsonl, with and without the documents that hold them; takes no --store",
    )
    .option("--judge <model>", "with --answers: have this chat model judge faithfulness and relevance, too")
    .option("--output <file>", "write the result with the scores of every query, as JSON")
    .option("--baseline <file>", "compare with what --output wrote; exit 1 when significantly worse")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell eval ./scifact
  $ citewell eval ./scifact --mode hybrid dense lexical --store ./scifact-store
  $ citewell eval ./scifact --grid --report report.html
  $ citewell eval ./scifact --output before.json
  $ citewell eval ./scifact --baseline before.json
  $ citewell eval ./squad --answers --limit-queries 500`,
    )
    .action(async (folder: string, flags) => {
      const { evalCommand, tellingStop } = await import("./eval-command.js");
      if (flags.answers) {
        const { evalAnswersCommand } = await import("./eval-answers-command.js");
        return exit(await tellingStop(world, flags, evalAnswersCommand(world, folder, flags)));
      }
      exit(await tellingStop(world, flags, evalCommand(world, folder, flags)));
    });

  withStore(program.command("verify"))
    .description("check that a store is as it was written, and measure how near dense search comes to the exact answer")
    .option("--sample <count>", "questions to measure with (default: 50)", between(1, 10_000))
    .option("--repair", "take out what is broken and make again what is derived")
    .option("--drop-unused", "with --repair: drop the vectors of texts that are in no document, or not yet")
    .addHelpText("after", "\nExamples:\n  $ citewell verify --repair\n  $ citewell verify --repair --drop-unused")
    .action(async (flags) => {
      const { verifyCommand } = await import("./verify-command.js");
      exit(await verifyCommand(world, flags));
    });

  addVideoCommands(program, world, exit);

  program
    .command("local")
    .description("serve the inference contract on this machine, offline: what runs when no service is configured")
    .option("--port <number>", "default: a free one", between(0, 65_535))
    .option("--host <address>", "default: 127.0.0.1, this machine only")
    .option("--api-key <key>", "default: a random one")
    .option("--models <folder>", "real models to publish too; needs the package @huggingface/transformers")
    .option("--time-scale <factor>", "its seconds in one of the clock's: video tasks, expiry (default: 1)", positive)
    .option("--video-tasks <file>", "SQLite file in which video tasks outlive it; made where there is none")
    .option("--faults [file]", "JSON of what is to go wrong; without a file, PUT it to /local/faults with the key")
    .option("--log", "write one JSON line on stderr for every request")
    .option("--json", "print {url, apiKey} as the first line")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell local --port 8787 --api-key secret --time-scale 60
  $ citewell local --port 8787 --api-key secret --faults
  $ curl -X PUT localhost:8787/local/faults -H "authorization: Bearer secret" \\
      -d '{"latencyMs": {"embeddings": 200}, "next": [{"status": 429, "times": 3, "retryAfterSeconds": 2}]}'

What may go wrong besides, and how, a GET of the same address shows.`,
    )
    .action(async (flags) => {
      const { localCommand } = await import("./local-command.js");
      exit(await localCommand(world, flags));
    });

  return program;
}

function withSource(command: Command): Command {
  return withStore(command)
    .argument("<path...>", "files, folders, and addresses of pages and sitemaps")
    .option(
      "--include <glob>",
      'only files that match, relative to each folder, like "guides/**"; repeatable',
      repeated,
    )
    .option("--exclude <glob>", "not the files that match; repeatable", repeated)
    .option("--max-file-bytes <count>", "pass over larger files (default: 50000000)", between(1, 1e12))
    .option("--file-timeout <seconds>", "most time to make a document of one file (default: 10)", fileTimeout)
    .option(
      "--rows <part=column,...>",
      "which columns of CSV, TSV, JSON and JSON lines are text, title, id, uri or metadata; one part may have several",
      rowsOption,
    )
    .option("--sitemap", "read all pages that the sites of the addresses list")
    .option("--requests-per-second <rate>", "most requests to one host (default: 1)", requestRate)
    .option("--allow-private", "fetch from addresses of this machine and its network too")
    .option("--refetch", "fetch all pages, also those that did not change since they were stored")
    .option("--price <amount>", "of a million tokens of the embedding model, in your currency", positive);
}

function withStore(command: Command, about = "where the store is (default: ./.citewell)"): Command {
  return command
    .option("--store <folder>", about)
    .option("--json", "print one JSON object")
    .option("--base-url <url>", "inference service (CITEWELL_BASE_URL)")
    .option("--api-key <key>", "its key; safer in CITEWELL_API_KEY")
    .option("--embedding-model <id>", "CITEWELL_EMBEDDING_MODEL")
    .option("--rerank-model <id>", "CITEWELL_RERANK_MODEL")
    .option("--chat-model <id>", "CITEWELL_CHAT_MODEL")
    .option("--config <file>", "settings file (default: ./citewell.config.json)");
}

/** A word that takes one value: with several, it would take paths that stand behind it for globs. */
function repeated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function fileTimeout(text: string): number {
  const seconds = positive(text);
  if (seconds < 0.1 || seconds > 3600) throw new InvalidArgumentError("It must be a number from 0.1 to 3600.");
  return seconds;
}

function requestRate(text: string): number {
  const rate = positive(text);
  if (rate < 0.01 || rate > 100) throw new InvalidArgumentError("It must be a number from 0.01 to 100.");
  return rate;
}

/** `--mode hybrid dense`, `--mode hybrid,dense` and `--mode hybrid --mode dense` are the same. */
function searchModes(text: string, before: readonly string[] = []): readonly string[] {
  const modes = text.split(",");
  const unknown = modes.find((mode) => !["hybrid", "dense", "lexical"].includes(mode));
  if (unknown !== undefined) throw new InvalidArgumentError("Allowed are hybrid, dense, lexical.");
  return [...new Set([...before, ...modes])];
}
