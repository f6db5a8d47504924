import { Command, Option } from "commander";
import { serviceNames } from "../dialects/services.js";
import { OptionsError } from "../core/errors.js";
import type { CommandIo } from "./command-context.js";
import { between, decimalBetween, filterOption, key, positive, repeated, rowsOption } from "./settings/flag-values.js";

/** A command as its file exports it: takes the arguments and flags of a command line, and returns the exit code. */
type Run<Arguments extends readonly unknown[]> = (io: CommandIo, ...given: Arguments) => Promise<number>;

const nowhere: CommandIo["notes"] = { write: () => true, isTTY: false, columns: 80 };

/** A command of the program, with the flags that several commands share. */
export class CliCommand extends Command {
  readonly #io: CommandIo;
  readonly #exit: (code: number) => void;

  constructor(name: string, io: CommandIo, exit: (code: number) => void) {
    super(name);
    this.#io = io;
    this.#exit = exit;
  }

  override createCommand(name = ""): CliCommand {
    return new CliCommand(name, this.#io, this.#exit);
  }

  /** Sets what the command does. Its code is imported when it runs: `--help` and usage errors need none of it. */
  runs<Arguments extends readonly unknown[]>(load: () => Promise<Run<Arguments>>): this {
    return this.action(async (...given: unknown[]) => {
      // Node opens the files of a module's imports all at once. Those of zod are a third of all that a command imports, and
      // by themselves they fit into a limit of 128 open files.
      await import("zod");
      const run = await load();
      const io = this.optsWithGlobals<{ quiet?: boolean }>().quiet ? { ...this.#io, notes: nowhere } : this.#io;
      this.#exit(await run(io, ...(given as unknown as Arguments)));
    });
  }

  examples(text: string): this {
    return this.addHelpText("after", `\nExamples:${text}`);
  }

  takesSource(): this {
    return this.argument(
      "<path...>",
      "files, folders, addresses of web pages and sitemaps, git:REPOSITORY, s3://BUCKET",
    )
      .option(
        "--include <glob>",
        'read only files that match, such as "guides/**" in each folder; repeatable',
        repeated,
      )
      .option("--exclude <glob>", "skip files that match; repeatable", repeated)
      .option("--max-file-bytes <count>", "skip larger files (default: 50000000)", between(1, 1e12))
      .option(
        "--file-timeout <seconds>",
        "maximum time to read one file, or one page of a PDF (default: 10)",
        decimalBetween(0.1, 3600),
      )
      .takesRows()
      .addOption(
        new Option(
          "--replies <how>",
          "keep earlier mails in replies, or once: leave out those that were read themselves (default: once)",
        ).choices(["keep", "once"]),
      )
      .option("--metadata <name=value>", "put this on every document, over what it says itself; repeatable", repeated)
      .option("--ocr <folder>", "read words of pictures and scans, with Tesseract's language data in that folder")
      .takesPictures()
      .option("--sitemap", "read every page that the sites of the addresses list")
      .option("--requests-per-second <rate>", "maximum requests to one host (default: 1)", decimalBetween(0.01, 100))
      .option("--allow-private", "also fetch from addresses of this machine and its network")
      .option("--refetch", "fetch all pages again, even those that did not change")
      .option("--reread", "read all files again, even those that did not change")
      .option("--retry-failed", "read files again that failed before, even those that did not change")
      .takesChunking()
      .takesStore();
  }

  /** Adds the flag that says which columns of a table are which part of a document. */
  takesRows(): this {
    return this.option(
      "--rows <part=column,...>",
      "columns of CSV or JSON that are text, title, id, uri or metadata",
      rowsOption,
    );
  }

  /** Adds the flags by which a model describes pictures of documents. */
  takesPictures(): this {
    return this.option(
      "--describe-pictures",
      "let a model describe the pictures of documents; each picture costs a request",
    )
      .option(
        "--picture-folder <folder>",
        "keep pictures and descriptions there (default: pictures in the store's folder)",
      )
      .option("--max-pictures <count>", "send at most so many pictures in this run (default: 1000)", between(1, 1e9))
      .option("--pictures-at-once <count>", "requests for descriptions at once (default: 4)", between(1, 64));
  }

  /** @param size name of the flag for a chunk's size: where chunks are all that a command makes, it is `--max-tokens`. */
  takesChunking(size: "--max-tokens" | "--chunk-tokens" = "--chunk-tokens"): this {
    const strategies = ["structure", "fixed", "sentence-window", "semantic"];
    return this.addOption(
      new Option("--strategy <name>", "where chunks end; semantic embeds every sentence").choices(strategies),
    )
      .option(`${size} <count>`, "maximum size of a chunk in tokens (default: 384)", between(16, 8192))
      .option("--overlap-tokens <count>", "tokens repeated where a block had to be cut (default: 32)", between(0, 4096))
      .option("--parent-tokens <count>", "context to read around a chunk (default: 1024; 0: none)", between(0, 65_536));
  }

  takesFilter(): this {
    const about = "condition on metadata, such as product=auth, year>=2024, uri^=file:///docs; repeatable";
    return this.option("--filter <condition>", about, filterOption);
  }

  takesStore(about = "folder or postgres:// address of the store (CITEWELL_STORE; default: ./.citewell)"): this {
    return this.option("--store <folder>", about)
      .takesSchema()
      .takesService()
      .option(
        "--embedding-model <id>",
        "model that embeds, or hf:ID of citewell models pull (CITEWELL_EMBEDDING_MODEL)",
      )
      .option("--model-folder <folder>", "model that embeds, computed in this process (CITEWELL_MODEL_FOLDER)")
      .option("--rerank-model <id>", "model that reranks (CITEWELL_RERANK_MODEL)")
      .option("--chat-model <id>", "model that answers (CITEWELL_CHAT_MODEL)")
      .option("--picture-model <id>", "model that sees and describes pictures (CITEWELL_PICTURE_MODEL)");
  }

  /** Adds the flags of a store whose models are not needed. */
  takesStoreAlone(): this {
    return this.option("--store <place>", "folder or postgres:// address of the store (default: ./.citewell)")
      .takesSchema()
      .option("--json", "print JSON")
      .option("--config <file>", "settings file (default: ./citewell.config.json)");
  }

  /** Adds the limits of what a chat model may be paid. */
  takesChatBudget(): this {
    return this.option("--max-tokens <count>", "maximum tokens of the chat model", between(1, Number.MAX_SAFE_INTEGER))
      .option("--max-cost <amount>", "maximum cost of them; needs --chat-price", positive)
      .option("--chat-price <price...>", "prices of a million tokens, of requests and of replies, such as 0.5 2")
      .option("--minutes <number>", "maximum time", positive);
  }

  takesSchema(): this {
    return this.option(
      "--schema <name>",
      "with a postgres:// address: schema that holds the store (default: citewell)",
    );
  }

  takesDistribution(): this {
    return this.option(
      "--distributed [shards]",
      "spread a new store over the nodes of its Citus cluster (default: 32 shards)",
      between(1, 1024),
    );
  }

  takesService(): this {
    const about = "kind of service: its address if it has one, paths and fields (CITEWELL_SERVICE; default: contract)";
    return this.option("--json", "print JSON")
      .addOption(new Option("--service <kind>", about).choices(serviceNames))
      .option("--base-url <url>", "inference service (CITEWELL_BASE_URL)")
      .option("--api-key <key>", "key of the service; safer in CITEWELL_API_KEY", key)
      .option("--config <file>", "settings file (default: ./citewell.config.json)");
  }

  takesBudget(): this {
    const about = "stop before this run spends more; the next run continues";
    return this.option("--budget-tokens <count>", about, between(1, 1e12))
      .option("--budget-cost <amount>", "the same limit in money; needs a price", positive)
      .addOption(renamed("--max-tokens", "--budget-tokens; the size of a chunk is --chunk-tokens"))
      .addOption(renamed("--max-cost", "--budget-cost"))
      .option("--price <amount>", "price of a million tokens of the embedding model, in your currency", positive);
  }
}

/** Refuses a flag's former name with a message that names the new one. */
function renamed(name: string, now: string): Option {
  return new Option(`${name} <value>`).hideHelp().argParser(() => {
    throw new OptionsError("options", `${name} is now ${now}`);
  });
}
