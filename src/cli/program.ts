import { Argument, CommanderError, Option } from "commander";
import { CliCommand } from "./cli-command.js";
import type { CommandIo } from "./command-context.js";
import type { Shell } from "./commands/completion.js";
import { describeFailure, exitCodeOf, exitCodes } from "./output/failure.js";
import { safeStream } from "./output/terminal-text.js";
import { version } from "../core/version.js";
import { between, key, modes, positive, repeated, searchModes } from "./settings/flag-values.js";
import { addKeyCommands } from "./keys/keys-program.js";
import { addModelCommands } from "./models/models-program.js";
import { addServeCommand } from "./serve-program.js";
import { addMakeCommand, addTuneCommand } from "./tuning/tuning-program.js";
import { addTransferCommands } from "./transfer/transfer-program.js";
import { addVideoCommands } from "./video/video-program.js";
import { addWorkerCommands } from "./workers/workers-program.js";

/** Runs one command line, the words after `citewell`, and returns its exit code. Never throws. */
export async function run(given: Omit<CommandIo, "notes">, words: readonly string[]): Promise<number> {
  // Messages repeat what was typed and what a service said.
  const stderr = safeStream(given.stderr);
  const io = { ...given, stderr, notes: stderr };
  let exitCode: number = exitCodes.done;
  const setExitCode = (code: number) => {
    exitCode = code;
  };
  const program = createProgram(io, setExitCode, words);
  if (words.length === 0) {
    program.outputHelp();
    return exitCodes.misuse;
  }
  try {
    await program.parseAsync([...words], { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has printed its own line. Help and version end here too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.misuse;
    if (io.signal.aborted && error === io.signal.reason) return exitCodes.interrupted;
    io.stderr.write(`${describeFailure(error, words.includes("--debug"))}\n`);
    return exitCodeOf(error);
  }
}

/** How a question that begins with a dash is asked: `search -leave` reads as flags. */
function dashHint(text: string, words: readonly string[]): string {
  const flag = /unknown option '(-[^-'][^']*)'/.exec(text)?.[1];
  const [command = ""] = words;
  if (flag === undefined || !["ask", "search"].includes(command)) return "";
  return `If ${flag} belongs to the question, quote the question and put -- before it: citewell ${command} -- "${flag} …"\n`;
}

function createProgram(io: CommandIo, exit: (code: number) => void, words: readonly string[]): CliCommand {
  const program = new CliCommand("citewell", io, exit)
    .description("Index a folder of documents, ask it questions, and get answers whose every citation was checked.")
    .version(version)
    .option("--debug", "print the stack and causes of an error")
    .option("--quiet", "print results, warnings and errors, but no progress and no notes")
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(`${text}${dashHint(text, words)}`),
    })
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .showHelpAfterError("Run with --help for usage.").examples(`
  $ citewell index ./docs                     read a folder into ./.citewell
  $ citewell ask "How do I rotate a key?"     print an answer with numbered, checked sources
  $ citewell search "key rotation" --limit 5  print the passages alone

If CITEWELL_BASE_URL is not set, everything runs offline on a built-in lexical service.
The service and web pages are reached through HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, but for hosts in NO_PROXY.
Exit codes: 0 done, 1 failed or done with failures, 2 misuse, 130 stopped by Ctrl-C
(0 for commands that run until Ctrl-C: serve, local, mcp, work, index --watch).`);

  program
    .command("index")
    .description("read files, folders and web pages into the store; run again to bring it up to date")
    .takesBudget()
    .option("--watch", "keep the store up to date with the files until Ctrl-C")
    .option("--enqueue", "only read: workers do the rest (citewell work); needs --store postgres://…")
    .takesDistribution()
    .takesSource()
    .examples(`
  $ citewell index ./docs
  $ citewell index ./docs --watch
  $ citewell index ./docs ./notes.md --exclude "drafts/**"
  $ citewell index ./docs --price 0.02 --budget-cost 1.50
  $ citewell index ./tickets.csv --rows id=key,title=subject,text=body
  $ citewell index https://docs.example.com/guide https://docs.example.com/sitemap.xml
  $ citewell index https://docs.example.com/ --sitemap --requests-per-second 2
  $ citewell index ./docs --json | jq .documents
  $ citewell index ./docs --enqueue --store postgres://user@db.example.com/docs
  $ citewell index ./docs --store postgres://user@coordinator.example.com/docs --schema handbook --distributed
  $ citewell index git:../handbook#v2 s3://company-docs/manuals
  $ citewell index ./scans --ocr node_modules/@tesseract.js-data/eng/4.0.0_best_int
  $ citewell index ./docs --model-folder ./models/all-MiniLM-L6-v2

It reads text, code, Markdown and MDX, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB, RTF, Pages, Keynote and
Numbers, reStructuredText, AsciiDoc, Org, LaTeX, DocBook, DITA, notebooks, OpenAPI, subtitles, mail, feeds, ZIP and tar
archives, CSV, JSON, Parquet, SQLite, exports of Slack, Notion and Confluence, and pictures and scans with --ocr. Other
files are listed as skipped, with how to convert them.
A model folder has config.json, tokenizer.json, and model.safetensors of a static embedding model or onnx/model.onnx of any
other; citewell models pull downloads one. Name it again to search and to ask.
Buckets are reached with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL.

The store remembers how documents are cut: later runs cut them in the same way, unless a flag says otherwise.`)
    .runs(async () => (await import("./commands/index-documents.js")).indexCommand);

  program
    .command("plan")
    .description("show what indexing would do and cost (chunks, tokens, requests) without sending or changing anything")
    .option("--price <amount>", "price of a million tokens of the embedding model, in your currency", positive)
    .takesSource()
    .examples(`
  $ citewell plan ./docs --price 0.02`)
    .runs(async () => (await import("./commands/plan.js")).planCommand);

  program
    .command("migrate")
    .description("rebuild the store for another --embedding-model or chunk size; the old store serves meanwhile")
    .option("--back", "return to the store from before the last migration")
    .option("--accept-failures", "switch even if some documents failed, and leave them out")
    .takesBudget()
    .takesChunking()
    .takesStore()
    .examples(`
  $ citewell migrate --embedding-model BAAI/bge-m3
  $ citewell migrate --chunk-tokens 256
  $ citewell migrate --back

It works from the documents in the store, so their files are not needed. They are cut as before, unless a flag says
otherwise.`)
    .runs(async () => (await import("./commands/migrate.js")).migrateCommand);

  addWorkerCommands(program);

  program
    .command("remove")
    .description("remove the documents of files, folders or web addresses from the store, even if the files are gone")
    .argument("<place...>", "a path or address that was indexed")
    .takesStore()
    .examples(`
  $ citewell remove ./old-docs ./notes.md
  $ citewell remove https://docs.example.com/guide

Files deleted from a folder that still exists are removed by citewell index on its next run.`)
    .runs(async () => (await import("./commands/remove.js")).removeCommand);

  program
    .command("list")
    .description("list the documents in the store: chunks, address, what they were read from, and title")
    .option("--source <place>", "only those that were read from this folder, file or web address, as it was indexed")
    .takesStore()
    .examples(`
  $ citewell list
  $ citewell list --source ./docs
  $ citewell list --json | jq -r '.[].uri'`)
    .runs(async () => (await import("./commands/list.js")).listCommand);

  program
    .command("stats")
    .description("show the figures of the store: documents, chunks, vectors, settings, and size on disk")
    .option(
      "--report <file>",
      "write an HTML page with charts: lengths, map, growth; needs the packages vega, vega-lite",
    )
    .takesStore()
    .examples(`
  $ citewell stats
  $ citewell stats --report collection.html
  $ citewell stats --json | jq .diskBytes.total`)
    .runs(async () => (await import("./commands/stats.js")).statsCommand);

  program
    .command("search")
    .description("find passages, without an answer")
    .argument("<query...>", 'words to look for; "exact phrase" must occur, -word and -"phrase" must not')
    .addOption(new Option("--mode <mode>", "how to search").choices(modes).default("hybrid"))
    .addOption(new Option("--limit <count>", "maximum number of passages").argParser(between(1, 1000)).default(10))
    .option("--rerank <count>", "rerank the best passages, this many of them", between(1, 1000))
    .option("--no-correct", "do not search for words that the documents lack as they are spelt there")
    .option("--why <chunk>", "show at which step a chunk, or each chunk of a document, was found or lost")
    .takesFilter()
    .takesStore()
    .examples(`
  $ citewell search "trace sampler" --mode lexical --limit 3
  $ citewell search 'sampler "parent based" -probability'
  $ citewell search "trace sampler" --why docs/sampling.md`)
    .runs(async () => (await import("./commands/search.js")).searchCommand);

  program
    .command("ask")
    .description("answer a question from the indexed documents, with numbered sources")
    .argument("<question...>", "the question, in your own words, with or without quotes around it")
    .option("--no-correct", "do not search for words that the documents lack as they are spelt there")
    .option(
      "--image <file>",
      "picture that goes with the question; needs a model that sees (--picture-model); repeatable",
      repeated,
    )
    .takesFilter()
    .takesStore()
    .examples(`
  $ citewell ask "How do I set the sampler through an environment variable?"
  $ citewell ask "What does this error mean?" --image screenshot.png`)
    .runs(async () => (await import("./commands/ask.js")).askCommand);

  program
    .command("chat")
    .description("have a conversation about the indexed documents, one question a line; the store keeps it")
    .option("--conversation <id>", "continue the conversation with this id, or start it (default: a new one)")
    .takesStore()
    .examples(`
  $ citewell chat
  $ citewell chat --conversation keys
  $ printf 'How long does a key last?\\nWho may rotate it?\\n' | citewell chat --json`)
    .runs(async () => (await import("./commands/chat.js")).chatCommand);

  addServeCommand(program);

  program
    .command("feedback")
    .description("list the answers that people rated on the page, with their notes, latest first")
    .addOption(new Option("--rating <rating>", "only good answers, or only bad ones").choices(["up", "down"]))
    .takesStore()
    .examples(`
  $ citewell feedback --rating down
  $ citewell feedback --json | jq -r '.[] | select(.rating == "down") | .question'`)
    .runs(async () => (await import("./commands/feedback.js")).feedbackCommand);

  program
    .command("read")
    .description("show what is read of a file, folder or address: text, places, and what is left out and why")
    .argument("<path>", "file, folder, address of a web page, git:REPOSITORY or s3://BUCKET")
    .addOption(
      new Option("--as <format>", "markdown: the texts alone; json: the documents (default: for people)").choices([
        "markdown",
        "json",
      ]),
    )
    .takesRows()
    .option("--ocr <folder>", "read words of pictures and scans, with Tesseract's language data in that folder")
    .option("--allow-private", "also fetch from addresses of this machine and its network")
    .examples(`
  $ citewell read report.pdf
  $ citewell read tickets.csv --rows id=key,title=subject,text=body
  $ citewell read https://example.com/article --as markdown > article.md
  $ citewell read ./docs --as json | jq '.documents[].leftOut'

It needs no store, sends nothing, and keeps nothing. Texts start with the page, line or time in their source.`)
    .runs(async () => (await import("./commands/read.js")).readCommand);

  program
    .command("chunk")
    .description("show the chunks of a file")
    .argument("<file>")
    .option("--embedding-model <id>", "use the token limit of this model: 8192 for ids ending in m3, 512 for others")
    .takesChunking("--max-tokens")
    .takesService()
    .examples(`
  $ citewell chunk README.md --max-tokens 200
  $ citewell chunk README.md --strategy sentence-window`)
    .runs(async () => (await import("./commands/chunk.js")).chunkCommand);

  const evaluating = program
    .command("eval")
    .description("measure search on a test collection: corpus.jsonl, queries.jsonl, qrels/test.tsv (BEIR layout)")
    .argument("<folder>", "the collection")
    .addOption(
      new Option("--mode <mode...>", "several are measured one after another (default: hybrid)")
        .choices(modes)
        .argParser(searchModes),
    )
    .option("--rerank", "rerank the first 100 passages; recall@100 then counts the documents among them")
    .option("--grid", "measure all modes, with and without reranking, and hybrid with several fusions")
    .option("--limit-queries <count>", "ask only this many queries, evenly spread", between(1, 10_000_000))
    .option("--seed <number>", "draw the queries of --limit-queries at random, with this seed", between(0, 2 ** 32 - 1))
    .option(
      "--queries <file>",
      "queries (default: queries.jsonl in the folder); with --answers also questions with their passages, about a folder of documents",
    )
    .option("--qrels <file>", "judgements (default: qrels/test.tsv in the folder)")
    .option(
      "--report <file>",
      "write an HTML page with charts and the queries that changed most; needs vega, vega-lite",
    )
    .option("--answers", "measure answers against answers.jsonl, with and without the documents that hold them")
    .option("--judge <model>", "with --answers: let this chat model judge faithfulness, relevance and completeness too")
    .option("--judge-tokens <count>", "maximum tokens of the judge", between(1, Number.MAX_SAFE_INTEGER))
    .option("--judge-cost <amount>", "maximum cost of the judge; needs --judge-price", positive)
    .option(
      "--judge-price <price...>",
      "prices of a million tokens of the judge, of requests and of replies, such as 0.5 2",
    )
    .option("--output <file>", "write the result as JSON, with the scores of every query")
    .option("--baseline <file>", "compare with a file from --output; exit 1 if significantly worse")
    .takesStore("folder of a store to keep and use again (default: a temporary one)")
    .examples(`
  $ citewell eval ./scifact
  $ citewell eval ./scifact --mode hybrid dense lexical --store ./scifact-store
  $ citewell eval ./scifact --grid --report report.html
  $ citewell eval ./scifact --output before.json
  $ citewell eval ./scifact --baseline before.json
  $ citewell eval ./squad --answers --limit-queries 500
  $ citewell eval ./docs --answers --queries questions.jsonl`)
    .runs(async () => (await import("./commands/eval.js")).evalCommand);
  addMakeCommand(evaluating);
  addTuneCommand(program);

  program
    .command("verify")
    .description("check the integrity of a store, and measure how close dense search comes to exact search")
    .option("--sample <count>", "number of searches to measure with (default: 50)", between(1, 10_000))
    .option("--repair", "remove what is broken and rebuild what is derived")
    .option("--drop-unused", "with --repair: delete vectors of texts that are in no document")
    .takesStore()
    .examples(`
  $ citewell verify --repair
  $ citewell verify --repair --drop-unused`)
    .runs(async () => (await import("./commands/verify.js")).verifyCommand);

  addTransferCommands(program);

  program
    .command("doctor")
    .description("look at Node, native modules, service, key, models and store: what is wrong, and what to do")
    .takesStore()
    .examples(`
  $ citewell doctor
  $ CITEWELL_BASE_URL=https://api.example.com citewell doctor --json`)
    .runs(async () => (await import("./commands/doctor.js")).doctorCommand);

  program
    .command("mcp")
    .description("serve the documents to editors, agents and chat programs over the Model Context Protocol (MCP)")
    .option("--about <words>", "what the documents are about: models are told, so that they know when to search")
    .option("--http", "serve over HTTP on this machine until Ctrl-C (default: one client on stdin and stdout)")
    .option("--port <number>", "with --http: port to listen on (default: a free one)", between(0, 65_535))
    .option(
      "--token <token>",
      "with --http: what clients must send as bearer token, 8 characters or more (default: a random one)",
      key,
    )
    .option("--no-token", "with --http: serve every program on this machine")
    .option("--keys", "with --http: clients send keys of citewell keys make, each of which sees its own documents")
    .option("--keys-file <file>", "the same, with the keys in this file (default: as citewell keys keeps them)")
    .option("--callers <file>", "with --http: JSON with openId and groups, as citewell serve takes it")
    .takesFilter()
    .takesStore()
    .examples(`
  $ citewell mcp --store /path/.citewell --about "The handbook of Example Ltd"
  $ citewell mcp --http --port 8788 --token 9f3c51d0 --filter product=auth
  $ citewell mcp --http --port 8788 --keys --callers callers.json

It needs the package @modelcontextprotocol/server. In the settings of Claude Desktop, an editor or an agent:

  { "mcpServers": { "documents": {
      "command": "npx",
      "args": ["-y", "-p", "citewell", "-p", "@modelcontextprotocol/server", "citewell", "mcp", "--store", "/path/.citewell"],
      "env": { "CITEWELL_BASE_URL": "…", "CITEWELL_API_KEY": "…", "CITEWELL_CHAT_MODEL": "…" } } } }

Clients can search, ask, read documents, and change nothing. --json prints {url, token} of --http.`)
    .runs(async () => (await import("./commands/mcp.js")).mcpCommand);

  addVideoCommands(program);
  addKeyCommands(program);
  addModelCommands(program);

  program
    .command("local")
    .description("serve the inference contract on this machine, offline; it also runs when no service is configured")
    .option("--port <number>", "port to listen on (default: a free one)", between(0, 65_535))
    .option("--host <address>", "address to listen on (default: 127.0.0.1, this machine only)")
    .option("--api-key <key>", "key that callers must send (default: a random one)", key)
    .option("--models <folder>", "folder of real models to serve too; needs @huggingface/tokenizers or transformers")
    .option("--time-scale <factor>", "seconds of video tasks and expiry in one real second (default: 1)", positive)
    .option("--video-tasks <file>", "SQLite file that keeps video tasks when the service ends; created if missing")
    .option("--faults [file]", "JSON of faults to inject; without a file, PUT them to /local/faults with the key")
    .option("--log", "write one JSON line to stderr for every request")
    .option("--json", "print {url, apiKey} as the first line")
    .examples(`
  $ citewell local --port 8787 --api-key secret --time-scale 60
  $ OPENAI_BASE_URL=http://127.0.0.1:8787/v1 OPENAI_API_KEY=secret node my-openai-app.js
  $ citewell local --port 8787 --api-key secret --faults
  $ curl -X PUT localhost:8787/local/faults -H "authorization: Bearer secret" \\
      -d '{"latencyMs": {"embeddings": 200}, "next": [{"status": 429, "times": 3, "retryAfterSeconds": 2}]}'

GET /local/faults shows which faults there are. The paths of the contract below /llm/v1 are strict, as the specification is. Clients of
OpenAI, Cohere and Jina are served below /v1 and /v2; what has no effect there is named in the header x-citewell-ignored.`)
    .runs(async () => (await import("./commands/local.js")).localCommand);

  program
    .command("explain")
    .description("say why an error with this code is thrown and how to go on, offline; without a code, list them")
    .argument("[code]", "the code of an error, such as space or rate-limited")
    .option("--json", "print one JSON array")
    .examples(`
  $ citewell explain rate-limited
  $ citewell explain`)
    .runs(async () => (await import("./explain/explain-command.js")).explainCommand);

  program
    .command("completion")
    .description("print a script that completes commands, options and paths in your shell")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .examples(`
  $ source <(citewell completion bash)   in ~/.bashrc
  $ source <(citewell completion zsh)    in ~/.zshrc, after compinit
  $ citewell completion fish | source    in ~/.config/fish/config.fish`)
    .runs(async () => {
      const { completionCommand } = await import("./commands/completion.js");
      return (command: CommandIo, shell: Shell) => completionCommand(command, program, shell);
    });

  return program;
}
