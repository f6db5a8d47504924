import type { CliCommand } from "../cli-command.js";
import { between, decimalBetween } from "../settings/flag-values.js";

/** Adds `work` and `status`, which fill a store on PostgreSQL by a queue. */
export function addWorkerCommands(program: CliCommand): void {
  program
    .command("work")
    .description(
      "take jobs of index --enqueue and embed their documents, until Ctrl-C; on as many machines as you like",
    )
    .option("--concurrency <count>", "jobs at once (default: 4)", between(1, 64))
    .option("--requests-per-minute <count>", "maximum embedding requests of all workers together", between(1, 1e9))
    .option("--tokens-per-minute <count>", "maximum tokens of all workers together", between(1, 1e12))
    .option("--dead-after <seconds>", "silence after which others take its jobs (default: 30)", decimalBetween(1, 3600))
    .option("--until-done", "end when nothing waits and no source is being read")
    .takesStore("address of the database: postgres://user@host/name")
    .examples(`
  $ citewell index ./docs --enqueue --store postgres://user@db.example.com/docs
  $ citewell work --store postgres://user@db.example.com/docs                              on machine A
  $ citewell work --store postgres://user@db.example.com/docs --concurrency 16             on machine B
  $ citewell status --store postgres://user@db.example.com/docs --watch
  $ citewell work --store postgres://user@db.example.com/docs --requests-per-minute 600    for all workers, from now on

Workers need the database and the service; the texts of documents are in the database, so they need none of the files.
Name the same model on each machine: --embedding-model, or CITEWELL_EMBEDDING_MODEL. Keep the password in PGPASSWORD or
~/.pgpass. On Ctrl-C or SIGTERM a worker finishes its jobs within 20 seconds, or gives them back; when it is killed, the
others take them. It needs the packages pg and graphile-worker.`)
    .runs(async () => (await import("./work.js")).workCommand);

  program
    .command("status")
    .description("show how far the workers are: documents, workers, rate, failures and poison documents")
    .option("--watch", "every second, until nothing waits")
    .takesStore("address of the database: postgres://user@host/name")
    .examples(`
  $ citewell status --store postgres://user@db.example.com/docs
  $ citewell status --store postgres://user@db.example.com/docs --watch --json | jq .documents`)
    .runs(async () => (await import("./status.js")).statusCommand);
}
