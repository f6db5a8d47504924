import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Benchmark, type CorpusDocument, MisuseError } from "./benchmark.js";
import { project } from "./project.js";

/** Data that is not part of the project, where it stands beside it. */
const data = join(project, "../shared/data");

export interface Corpus {
  readonly folder: string;
  /** Its name, without the place where it stands, and its size. */
  readonly described: string;
}

/** The folder that was named, or the documentation and collections beside the project, or Markdown of installed packages. */
export function corpusFor(kind: Benchmark["corpus"], named: string | undefined): Corpus {
  const own =
    kind === "collection"
      ? data
      : kind === "store"
        ? join(project, "build/large-store")
        : existsSync(data)
          ? join(data, "docs-corpus")
          : join(project, "node_modules");
  const folder = named === undefined ? own : resolve(named);
  if (kind !== "markdown") return { folder, described: kind === undefined ? "made" : basename(folder) };
  const documents = readMarkdown(folder);
  const characters = documents.reduce((sum, { text }) => sum + text.length, 0);
  if (documents.length === 0) throw new MisuseError(`There are no Markdown files in ${folder}`);
  return { folder, described: `${basename(folder)}, ${documents.length} files, ${characters} characters` };
}

/** All Markdown files of a folder, in the order of their names; `share` of them, evenly spread. */
export function readMarkdown(folder: string, share = 1): readonly CorpusDocument[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .filter((_, index) => Math.floor((index + 1) * share) > Math.floor(index * share))
    .map((path) => ({ uri: path.slice(folder.length + 1), text: readFileSync(path, "utf8") }));
}
