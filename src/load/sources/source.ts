import type { Budget } from "../../core/ports.js";
import { LoadError } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import type { Document } from "../../core/types.js";
import type { FileMemory } from "./file-memory.js";

/** The part of a run that a source needs, and what is known of its documents from earlier runs. */
export interface ReadContext extends Pick<RunContext, "signal" | "report" | "failures"> {
  /** A document as it is stored, for sources that can ask whether it has changed. Absent: nothing is known. */
  readonly stored?: (uri: string) => Promise<Document | undefined>;
  /** Memory of files from earlier runs. Absent: there is none. */
  readonly files?: FileMemory;
  /** Budget of the run, for sources that pay for something. Default: no limit. */
  readonly budget?: Budget | undefined;
  /** Whether the run only counts: a source sends nothing that costs. Default: false. */
  readonly isPlan?: boolean;
}

/** A place that documents come from. Iterated, it throws at the first file that fails; `read` reports it and goes on. */
export interface DocumentSource extends AsyncIterable<Document> {
  /** Id that its documents carry as `source`: only a complete run over this source may delete those that vanished. */
  readonly id: string;
  /**
   * All documents, in a fixed order. A file that is passed over is reported as `skipped`; one that cannot be read goes to
   * `context.failures` and costs no other. Reports `files-found` before the first is read.
   *
   * @throws LoadError (`missing`) when there is no such path, (`empty`) when there is nothing to read in it.
   */
  readonly read: (context: ReadContext) => AsyncIterable<Document>;
  /**
   * Whether a stored document that a complete run did not meet is gone from this source, and so to be deleted. False for
   * documents that were never its own. `source` is the id of the source that the document was stored from.
   */
  readonly vanished: (uri: string, source?: string) => boolean | Promise<boolean>;
  /** For a source made of files: the paths to watch, and a way to read some of the files again. */
  readonly files?: SourceFiles;
}

export interface SourceFiles {
  /** Absolute paths of the folders and files that it reads. */
  readonly roots: readonly string[];
  /** The same source limited to these files, by absolute path. Files that it would no longer read are gone from it. */
  readonly only: (files: ReadonlySet<string>) => DocumentSource;
}

/**
 * Makes a source from its actions in a run.
 *
 * @example
 * ```ts
 * import { documentSource } from "citewell/load";
 * const rows = new Map([["1", "Keys expire after 90 days."]]);
 * export const tickets = documentSource({
 *   id: "tickets",
 *   read: async function* () {
 *     for (const [id, text] of rows) yield { uri: `ticket:${id}`, text };
 *   },
 *   vanished: (uri) => uri.startsWith("ticket:") && !rows.has(uri.slice("ticket:".length)),
 * });
 * ```
 */
export function documentSource({
  id,
  read,
  vanished,
  files,
}: Pick<DocumentSource, "id" | "read" | "vanished" | "files">): DocumentSource {
  return {
    id,
    read,
    vanished,
    ...(files && { files }),
    [Symbol.asyncIterator]: () => untilFailure(read)[Symbol.asyncIterator](),
  };
}

async function* untilFailure(read: DocumentSource["read"]): AsyncGenerator<Document> {
  const leaving = new AbortController();
  const failures = new Map<string, Error>();
  const throwFirst = () => {
    for (const [uri, cause] of failures) {
      const code = cause instanceof LoadError ? cause.code : "unreadable";
      const hint = "To read the others all the same, use read(context), which reports what fails and goes on";
      throw new LoadError(code, uri, `${cause.message}. ${hint}`, { cause });
    }
  };
  try {
    for await (const document of read({ signal: leaving.signal, report: () => {}, failures })) {
      throwFirst();
      yield document;
    }
    throwFirst();
  } finally {
    leaving.abort();
  }
}

/**
 * Several sources as one, read one after the other.
 *
 * @example
 * ```ts
 * import { openKnowledgeBase, readFile, readFolder } from "citewell";
 * import { allSources } from "citewell/load";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * await kb.ingest(allSources([readFolder("./docs"), readFile("./README.md")]));
 * ```
 */
export function allSources(sources: readonly DocumentSource[]): DocumentSource {
  const watched = sources.flatMap(({ files }) => files ?? []);
  return documentSource({
    id: sources.map(({ id }) => id).join(" "),
    read: async function* (context) {
      for (const source of sources) yield* source.read(context);
    },
    vanished: async (uri, from) => {
      for (const source of sources) if (await source.vanished(uri, from)) return true;
      return false;
    },
    ...(watched.length === sources.length && {
      files: {
        roots: watched.flatMap(({ roots }) => roots),
        only: (changed) => allSources(watched.map((files) => files.only(changed))),
      },
    }),
  });
}
