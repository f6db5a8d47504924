import type { CliCommand } from "../cli-command.js";

/** Adds `citewell models` with its commands. */
export function addModelCommands(program: CliCommand): void {
  const models = program
    .command("models")
    .description("download models to be computed on this machine, and list those that were").examples(`
  $ citewell models
  $ citewell models pull minishlab/potion-base-8M
  $ citewell index ./docs --embedding-model hf:minishlab/potion-base-8M

They lie in the folder that CITEWELL_MODELS names, by default ~/.cache/citewell/models, and are computed without a network.`);

  models
    .command("list", { isDefault: true })
    .description("list the models that were downloaded, also without the word list")
    .option("--json", "print JSON")
    .runs(async () => (await import("./models-commands.js")).modelsCommand);

  models
    .command("pull")
    .description(
      "download a model from a hub, once; run again to go on with what was stopped, or to fetch a new version",
    )
    .argument("<id>", "owner/name, or owner/name@revision")
    .option("--json", "print JSON")
    .examples(`
  $ citewell models pull minishlab/potion-base-8M
  $ citewell models pull sentence-transformers/static-retrieval-mrl-en-v1@main
  $ HF_ENDPOINT=https://mirror.example.com citewell models pull minishlab/potion-base-8M

It fetches what citewell computes: static embedding models (Model2Vec, StaticEmbedding), for which @huggingface/tokenizers has to
be installed, and models for ONNX, for which @huggingface/transformers is needed as well. Every file is checked by the hash that
the hub states. HF_TOKEN is sent to the hub for models that not everybody may read, HF_ENDPOINT names a mirror, and HTTPS_PROXY,
HTTP_PROXY and NO_PROXY are followed.`)
    .runs(async () => (await import("./models-commands.js")).pullModelCommand);
}
