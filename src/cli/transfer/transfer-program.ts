import type { CliCommand } from "../cli-command.js";
import { between } from "../settings/flag-values.js";

/** Adds the commands that move stores: `copy`, `export`, `import` and `distribute`. */
export function addTransferCommands(program: CliCommand): void {
  program
    .command("copy")
    .description("copy all documents of a store to another one, with their vectors: nothing is embedded again")
    .argument("<from>", "the store to copy: its folder, or its address, postgres://user@host/name")
    .argument("<to>", "the other one, which is made if there is none")
    .takesDistribution()
    .option("--json", "print JSON")
    .examples(`
  $ citewell copy ./.citewell /backup/citewell
  $ citewell copy ./.citewell postgres://user@db.example.com/docs
  $ citewell copy ./.citewell postgres://user@coordinator.example.com/docs --distributed
  $ citewell copy postgres://user@a.example.com/docs,postgres://user@b.example.com/docs postgres://user@c.example.com/docs     from servers of an earlier version
  $ citewell copy /backup/citewell ./restored --json | jq .differences

Run again, it goes on where it was stopped, or brings what is new. Documents that only the target has stay. In the end all
documents and vectors of both are compared. Conversations are not copied.`)
    .runs(async () => (await import("./transfer-commands.js")).copyCommand);

  program
    .command("export")
    .description("write a store to one file, with its vectors; citewell import reads it")
    .argument("<file>", "the file: JSON lines, each with a checksum")
    .takesStoreAlone()
    .examples(`
  $ citewell export docs.jsonl
  $ citewell export docs.jsonl --store /srv/citewell --json

It writes docs.jsonl.partial, which the same command continues if it was stopped, and names it docs.jsonl when it is whole.`)
    .runs(async () => (await import("./transfer-commands.js")).exportCommand);

  program
    .command("import")
    .description("read a file of citewell export into a store, which is made if there is none")
    .argument("<file>", "the file")
    .takesStoreAlone()
    .examples(`
  $ citewell import docs.jsonl --store ./restored

Run again, it goes on where it was stopped. A damaged line ends it: what came before is kept.`)
    .runs(async () => (await import("./transfer-commands.js")).importCommand);

  program
    .command("distribute")
    .description("spread a store on PostgreSQL over the nodes of its Citus cluster, while it is searched")
    .takesStoreAlone()
    .option(
      "--shards <count>",
      "shards of each table, at least as many as the cluster will have cores (default: 32)",
      between(1, 1024),
    )
    .examples(`
  $ citewell distribute --store postgres://user@coordinator.example.com/docs

Searches go on; writes wait until it is done. Interrupted, nothing has changed.`)
    .runs(async () => (await import("./transfer-commands.js")).distributeCommand);
}
