import { fileURLToPath, pathToFileURL } from "node:url";
import { resolve } from "../../core/options.js";
import type { Document, Metadata } from "../../core/types.js";
import { Formats } from "../formats/formats.js";
import { isHidden } from "../formats/hidden-names.js";
import type { GitFile, LastChange } from "./git-repository.js";
import { loadOptions, type LoadOptions } from "./load-options.js";
import type { ListedFile } from "./read-listed-files.js";
import { realPath } from "./real-path.js";
import { documentSource, type DocumentSource, type ReadContext } from "./source.js";

export type ReadGitOptions = LoadOptions;

export function isGitAddress(address: string): boolean {
  return /^git:(?!\/\/[^/])/.test(address);
}

/**
 * Reads the files of a git repository as they are at a commit, whatever lies in its folder: `git:../handbook`, or of another
 * branch, tag or commit behind a `#`: `git:../handbook#v2`. A folder within a repository is read alone. Each document says by
 * whom and when its file was last changed (`lastAuthor`, `modified`, `lastCommit`), as far as the last
 * 200,000 commits say. A file that was renamed was changed then. Links and other repositories within it are not followed.
 * What a folder passes over is passed over here. It needs git on the machine.
 *
 * @throws LoadError when it is read: (`missing`) when there is no such repository or commit.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { readGit } from "citewell/load";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * await kb.ingest(readGit("git:../handbook#v2"));
 * ```
 */
export function readGit(address: string, options: ReadGitOptions = {}): DocumentSource {
  const { loaders, recognizer, ...loading } = resolve("readGit", loadOptions, options);
  const formats = new Formats(loaders, recognizer);
  const [place = "", revision] = address.slice("git:".length).split("#", 2);
  const folder = realPath(place.startsWith("///") ? fileURLToPath(`file:${place}`) : place);
  const query = revision ? `?at=${encodeURIComponent(revision)}` : "";
  const base = `${pathToFileURL(folder).href.replace(/^file:/, "git:")}/`;
  const id = `${base}${query}`;
  let complete = false;

  async function* read(context: ReadContext): AsyncGenerator<Document> {
    const { signal, report } = context;
    complete = false;
    const { GitRepository: Repository } = await import("./git-repository.js");
    const { reportOutcomes } = await import("./read-files.js");
    const { encodedPath, readListedFiles } = await import("./read-listed-files.js");
    const repository = await Repository.open(folder, revision ?? "HEAD", id, signal);
    try {
      const files = (await repository.files()).filter(({ path }) => !isHidden(path));
      const changes = await repository.lastChanges(files.map(({ path }) => path));
      report({ type: "progress", what: "files-found", count: files.length });
      const listed = async function* (): AsyncGenerator<GitFile & ListedFile> {
        for (const file of files) {
          const change = changes.get(file.path);
          const state = `${file.blob} ${change?.commit ?? ""}`;
          yield {
            ...file,
            uri: `${base}${encodedPath(file.path)}${query}`,
            state,
            ...(change && { metadata: metadataOf(change), modified: new Date(change.date) }),
          };
        }
      };
      const fetch = (file: ListedFile) => repository.content(file as GitFile & ListedFile);
      // One process of git answers, one content after the other.
      const reading = { formats, loading, source: id, fetch, concurrency: 1 };
      const { failed } = yield* reportOutcomes(readListedFiles(listed(), reading, context), context, {
        skippedCodes: ["binary", "too-large"],
      });
      complete = failed === 0;
    } finally {
      repository.close();
    }
  }

  return documentSource({ id, read, vanished: (_, source) => source === id && complete });
}

function metadataOf({ commit, author, date }: LastChange): Metadata {
  return { lastAuthor: author, modified: date, lastCommit: commit };
}
