import { copyFile, link, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { OptionsError, TransportError } from "../../core/errors.js";
import { listOption, optionsOf, resolve, secret } from "../../core/options.js";
import { declaredStaticFolder } from "../engines/static-layout.js";
import type { PullModelOptions } from "../pull-options.js";
import { type PulledModel, readManifest, writeManifest } from "../pulled-models.js";
import { downloadFile, hashOf, type HubFile } from "./download-file.js";
import { HubClient } from "./hub-client.js";
import { checkedFileName, folderOf, parseModelName, writtenName } from "./model-name.js";

const defaultEndpoint = "https://huggingface.co";

const pullModelOptions = optionsOf<PullModelOptions>()({
  folder: z.string().min(1),
  endpoint: z
    .url({ protocol: /^https?$/, error: "must be an address that starts with http:// or https://" })
    .default(defaultEndpoint),
  token: secret(z.string().regex(/^[\x21-\x7e]+$/, "must be one word of printable ASCII")).optional(),
  proxyUrl: z.url({ protocol: /^https?$/ }).optional(),
  noProxy: listOption(z.array(z.string())).default([]),
  signal: z.instanceof(AbortSignal).optional(),
  onProgress: z
    .custom<NonNullable<PullModelOptions["onProgress"]>>((value) => typeof value === "function", "must be a function")
    .optional(),
});

/** The fields of the hub's description of a model that are read. */
const Listing = z.object({
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  siblings: z.array(
    z.object({
      rfilename: z.string(),
      size: z.int().min(0).nullish(),
      blobId: z
        .string()
        .regex(/^[0-9a-f]{40}$/)
        .nullish(),
      lfs: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), size: z.int().min(0).nullish() }).nullish(),
    }),
  ),
});

/** See `pull-model.ts`. */
export async function fetchModel(name: string, options: PullModelOptions): Promise<PulledModel> {
  const { folder: models, onProgress, ...hub } = resolve("pullModel", pullModelOptions, options);
  const model = parseModelName(name);
  const written = writtenName(model);
  const folder = folderOf(models, model);
  const client = new HubClient({ token: undefined, proxyUrl: undefined, signal: undefined, ...hub });
  try {
    const { id, revision } = model;
    const listed = await client.json(
      `/api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`,
      `the model ${written}`,
    );
    const { commit, files } = readListing(listed, written);
    const before = readManifest(folder);
    if (before?.commit === commit) return before;
    const stage = `${folder}.partial`;
    await mkdir(stage, { recursive: true });
    const hashes = new Map<string, string>();
    let [known, there] = [files.filter(isDescription), 0];
    const fetchAll = async () => {
      for (const file of known) {
        if (hashes.has(file.name)) continue;
        const path = join(stage, file.name);
        const report = (bytes: number) =>
          onProgress?.({ file: file.name, bytes: there + bytes, totalBytes: Math.max(there + bytes, totalOf(known)) });
        const reused = await reuse(file, path, folder);
        const target = {
          hubPath: `/${id}/resolve/${commit}/${file.name.split("/").map(encodeURIComponent).join("/")}`,
          path,
          what: `${file.name} of ${written}`,
          onBytes: report,
        };
        hashes.set(file.name, reused ?? (await downloadFile(client, file, target)));
        there += file.sizeBytes ?? 0;
        report(0);
      }
    };
    await fetchAll();
    known = [...known, ...(await weightsOf(stage, files, written))];
    await fetchAll();
    await removeOthers(stage, known);
    await writeManifest(stage, { id, revision, commit, sizeBytes: totalOf(known), files: Object.fromEntries(hashes) });
    await replaceFolder(stage, folder);
  } finally {
    await client.close();
  }
  return readManifest(folder)!;
}

function readListing(
  listed: unknown,
  written: string,
): { readonly commit: string; readonly files: readonly HubFile[] } {
  const parsed = Listing.safeParse(listed);
  if (!parsed.success) {
    throw new TransportError("reply", `The hub describes the model ${written} without its commit and files`, {
      cause: parsed.error,
    });
  }
  const files = parsed.data.siblings.map(({ rfilename, size, blobId, lfs }) => ({
    name: checkedFileName(rfilename, written),
    sizeBytes: lfs?.size ?? size ?? undefined,
    hash: lfs?.sha256 ?? blobId ?? undefined,
  }));
  return { commit: parsed.data.sha, files };
}

/** Descriptions and tokenizers, in the folder itself or in that of a module. */
function isDescription({ name }: HubFile): boolean {
  return /^(?:\d+_[^/]+\/)?[^/]+\.json$/.test(name);
}

/** The files of weights that the descriptions ask for. @throws OptionsError (`config`) for a model that cannot be computed. */
async function weightsOf(stage: string, files: readonly HubFile[], written: string): Promise<readonly HubFile[]> {
  const named = (...names: readonly string[]) => files.filter(({ name }) => names.includes(name));
  const declared = await declaredStaticFolder(stage);
  const onnx = named("onnx/model.onnx", "onnx/model.onnx_data");
  const inner = declared ?? (onnx.length === 0 ? undeclaredFolder(files) : undefined);
  if (inner === undefined && onnx.some(({ name }) => name === "onnx/model.onnx")) return onnx;
  const tables = inner === undefined ? [] : named(inner === "" ? "model.safetensors" : `${inner}/model.safetensors`);
  if (tables.length > 0) return tables;
  throw new OptionsError(
    "config",
    `${written} has neither the table of a static embedding model (model.safetensors) nor onnx/model.onnx, and cannot be computed`,
  );
}

/** The folder of a table that no description names: sentence-transformers has a static model there, or one without a config.json. */
function undeclaredFolder(files: readonly HubFile[]): string | undefined {
  const has = (name: string) => files.some((file) => file.name === name);
  if (has("0_StaticEmbedding/model.safetensors")) return "0_StaticEmbedding";
  return has("config_sentence_transformers.json") && !has("config.json") ? "" : undefined;
}

function totalOf(files: readonly HubFile[]): number {
  return files.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0);
}

/** The hash of a file that an earlier run, or the version before, has whole; it is put into its place. */
async function reuse({ name, hash }: HubFile, path: string, folder: string): Promise<string | undefined> {
  if (hash === undefined) return undefined;
  const same = (candidate: string) =>
    hashOf(candidate, hash.length).then(
      (found) => found === hash,
      () => false,
    );
  if (await same(path)) return hash;
  const old = join(folder, name);
  if (!(await same(old))) return undefined;
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  await link(old, path).catch(() => copyFile(old, path));
  return hash;
}

/** Files of a commit that was being fetched before, and is no longer wanted. */
async function removeOthers(stage: string, wanted: readonly HubFile[]): Promise<void> {
  const names = new Set(wanted.map(({ name }) => join(stage, name)));
  for (const entry of await readdir(stage, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !names.has(path)) await rm(path);
  }
}

/** Puts the new folder into the place of the old one: a reader sees the one or the other. */
async function replaceFolder(stage: string, folder: string): Promise<void> {
  const old = `${folder}.old`;
  await rm(old, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  await rename(folder, old).catch(() => {});
  await rename(stage, folder);
  await rm(old, { recursive: true, force: true });
}
