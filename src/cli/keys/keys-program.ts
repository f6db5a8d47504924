import { Option } from "commander";
import type { CliCommand } from "../cli-command.js";
import { between, repeated } from "../settings/flag-values.js";

/** Adds `citewell keys` with its commands. */
export function addKeyCommands(program: CliCommand): void {
  const keys = program
    .command("keys")
    .description("make, list and revoke the keys by which people and programs use citewell serve --keys").examples(`
  $ citewell keys make "Ada's notebook"
  $ citewell keys make "Help desk" --role add --filter product=auth --metadata product=auth --expires 90
  $ citewell keys
  $ citewell keys revoke k3f9
  $ citewell serve --keys --host 0.0.0.0 --port 8080
  $ citewell keys make "Ada's notebook" --store postgres://owner@db.example.com/docs

A key is shown once. What is kept recognises it and does not tell it: in keys.json in the store's folder, or in a table of a store
in PostgreSQL, where all servers of the store know it and only the owner of the store's tables makes, lists and revokes keys.`);

  takesKeys(keys.command("list", { isDefault: true }))
    .description("list the keys: role, documents, and whether they still hold")
    .runs(async () => (await import("./keys-commands.js")).listKeysCommand);

  takesKeys(keys.command("make"))
    .description("make a key, and print it")
    .argument("<name>", "name of whoever or whatever will use it")
    .addOption(
      new Option(
        "--role <role>",
        "ask; add: upload files, too; manage: replace, delete, and approve calls of tools that write",
      )
        .choices(["ask", "add", "manage"])
        .default("ask"),
    )
    .takesFilter()
    .option(
      "--metadata <name=value>",
      "put this on every file that it uploads, as its filter lets through; repeatable",
      repeated,
    )
    .option("--group <name>", "see the documents of this group of serve --callers; repeatable", repeated)
    .option("--expires <days>", "refuse it after so many days (default: it does not expire)", between(1, 36_500))
    .option("--requests-per-minute <count>", "more get 429 (default: as the server says)", between(1, 1_000_000))
    .option("--tokens-per-minute <count>", "tokens of the chat model; then more get 429", between(1, 1e12))
    .option("--max-answers <count>", "answers at once; more get 429", between(1, 100_000))
    .examples(`
  $ citewell keys make "Ada's notebook"
  $ citewell keys make "Nightly import" --role manage --expires 30
  $ citewell keys make "Tenant north" --filter tenant=north --metadata tenant=north --role add --requests-per-minute 60
  $ citewell keys make "CI" --json | jq -r .key

Send it as Authorization: Bearer …, or type it on the page. Servers that run take it at once.`)
    .runs(async () => (await import("./keys-commands.js")).makeKeyCommand);

  takesKeys(keys.command("revoke"))
    .description("refuse a key from now on, also where the server runs")
    .argument("<id>", "id of the key, or its beginning")
    .examples(`
  $ citewell keys revoke k3f9`)
    .runs(async () => (await import("./keys-commands.js")).revokeKeyCommand);
}

function takesKeys(command: CliCommand): CliCommand {
  return command
    .takesStoreAlone()
    .option(
      "--keys-file <file>",
      "file of the keys (default: keys.json in the store's folder, or the table of a store in PostgreSQL)",
    );
}
