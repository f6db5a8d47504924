import { LoadError } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import type { Document } from "../../core/types.js";

/** The part of a run that a source needs. */
export type ReadContext = Pick<RunContext, "signal" | "report" | "failures" | "stored" | "files">;

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

/** Makes a source of what it does in a run. */
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
      const wayOut = "To read the others all the same, use read(context), which reports what fails and goes on";
      throw new LoadError(code, uri, `${cause.message}. ${wayOut}`, { cause });
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

/** Several sources as one, read one after the other. */
export function allSources(sources: readonly DocumentSource[]): DocumentSource {
  return documentSource({
    id: sources.map(({ id }) => id).join(" "),
    read: async function* (context) {
      for (const source of sources) yield* source.read(context);
    },
    vanished: async (uri, from) => {
      for (const source of sources) if (await source.vanished(uri, from)) return true;
      return false;
    },
    ...(sources.every(({ files }) => files) && {
      files: {
        roots: sources.flatMap(({ files }) => files!.roots),
        only: (changed) => allSources(sources.map(({ files }) => files!.only(changed))),
      },
    }),
  });
}
