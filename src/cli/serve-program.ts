import type { CliCommand } from "./cli-command.js";
import { between, key, repeated } from "./settings/flag-values.js";

/** Adds `citewell serve`. */
export function addServeCommand(program: CliCommand): void {
  program
    .command("serve")
    .description("serve a chat page and an HTTP API over the store on this machine, until Ctrl-C")
    .argument("[path...]", "files, folders and web addresses to index first (default: the store as it is)")
    .option("--port <number>", "port to listen on (default: a free one)", between(0, 65_535))
    .option(
      "--host <address>",
      "address to listen on (default: 127.0.0.1, this machine only); others need --token, --keys or --callers",
    )
    .option("--token <token>", "callers must send it, at least 8 characters; the page is opened with it", key)
    .option("--keys", "callers send keys of citewell keys make")
    .option("--keys-file <file>", "the same, with the keys in this file (default: as citewell keys keeps them)")
    .option("--callers <file>", "JSON with openId, who signs in by OpenID Connect, and groups, what their members see")
    .option(
      "--audit <file>",
      "append a JSON line for each question, document read, upload, deletion, decision and refusal",
    )
    .option("--audit-texts", "write questions into it, too")
    .option("--title <name>", "name of the collection (default: citewell)")
    .option("--read-only", "let nobody upload or delete documents")
    .option(
      "--originals",
      "let readers download the files of documents; by default only where nobody else reaches the server",
    )
    .option("--offer-model <id>", "let callers choose this chat model of the same service, too; repeatable", repeated)
    .option(
      "--offer-settings",
      "let callers choose the number of passages and give instructions; by default only where nobody else reaches the server",
    )
    .option("--allow-host <name>", "name that the server may be addressed by, besides its own; repeatable", repeated)
    .option("--allow-origin <url>", "page of another server that may use the API; repeatable", repeated)
    .option("--log", "write one JSON line to stderr for every request")
    .option("--metrics", "serve figures for Prometheus at /metrics, with --token; needs the package prom-client")
    .option(
      "--metrics-token <token>",
      "the same, with a token of its own, which --keys and --callers make necessary",
      key,
    )
    .option("--share-models", "let callers use the collection's own models at /v1/embeddings and /v1/rerank")
    .option(
      "--trust-proxy <count>",
      "tell callers apart by what this many proxies in front say (default: 0)",
      between(0, 10),
    )
    .option("--requests-per-minute <count>", "of one caller; more get 429 (default: 600)", between(1, 1_000_000))
    .option("--tokens-per-minute <count>", "of the chat model, of one caller; then more get 429", between(1, 1e12))
    .option("--max-answers-per-caller <count>", "answers at once, of one caller; more get 429", between(1, 100_000))
    .option(
      "--max-answers <count>",
      "answers at once, for all callers; more get 503 (default: 256)",
      between(1, 100_000),
    )
    .option(
      "--workers <count>",
      "threads that search beside the one that answers, started when needed (default: one less than there are cores)",
      between(0, 64),
    )
    .option(
      "--grace <seconds>",
      "time that answers have to finish after Ctrl-C or SIGTERM (default: 5)",
      between(0, 600),
    )
    .takesFilter()
    .takesPictures()
    .takesStore()
    .examples(`
  $ citewell serve ./docs --port 8080
  $ citewell serve --host 0.0.0.0 --port 8080 --token "$(openssl rand -hex 16)" --allow-host docs.example.com
  $ citewell serve --filter product=auth --read-only
  $ citewell serve --offer-model gpt-4o --offer-model gpt-4o-mini --offer-settings
  $ citewell serve --host 0.0.0.0 --token "$TOKEN" --metrics --log --trust-proxy 1 --grace 30
  $ citewell serve --keys --audit audit.jsonl --host 0.0.0.0
  $ citewell serve --keys --callers callers.json --host 0.0.0.0 --allow-host docs.example.com --trust-proxy 1
  $ OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=any node my-openai-app.js

Files that are uploaded on the page are kept in the store's folder. Answers go on when their page is closed or reloaded.
Probes of an orchestrator are answered without a token: /livez while the process runs, /readyz while the documents can be read.`)
    .runs(async () => (await import("./commands/serve.js")).serveCommand);
}
