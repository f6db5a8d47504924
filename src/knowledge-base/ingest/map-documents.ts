import { types } from "node:util";
import { asError, OptionsError } from "../../core/errors.js";
import { functionOption } from "../../core/options.js";
import type { RunContext } from "../../core/pipeline.js";
import type { Source } from "../../core/stream.js";
import type { Document } from "../../core/types.js";
import { givenDocument } from "./given-document.js";

/** Makes another document of each one that was read; `null` leaves it out. */
export type MapDocument = (
  document: Document,
  context: {
    /** Aborts when the run does. */
    readonly signal: AbortSignal;
  },
) => Document | null | Promise<Document | null>;

export interface MapDocumentsOptions {
  /**
   * Your own step between reading and cutting, one document after the other: to redact the text, or to take metadata
   * from the path. It returns the document, changed or not, or `null` to leave it out: then it is reported as skipped,
   * and its stored version is deleted when the run has seen the whole source. An error that it throws, or a result that
   * is not a document, fails this document alone. With `map`, every file is read, and the results are compared with the
   * store: a document is unchanged when `map` returned the same for it. Default: none.
   */
  readonly map?: MapDocument;
}

export const mapOption = functionOption<MapDocument>().optional();

/** Handling of documents before they are noted as read. */
export interface Given {
  readonly map: MapDocument | undefined;
  /** Called when the first item comes. */
  readonly began: () => void;
  /** Whether a document of this uri was read in this run. */
  readonly wasRead: (uri: string) => boolean;
  /** Called with the uri of each document that `map` left out. */
  readonly leftOut: (uri: string) => void;
}

/**
 * Documents of a source, checked, and each passed through `map`. An item that is not a document, or that `map` fails
 * at, is a failure of its own.
 */
export async function* mapDocuments(
  source: Source<unknown>,
  { map, began, wasRead, leftOut }: Given,
  { signal, failures, report }: Pick<RunContext, "signal" | "failures" | "report">,
): AsyncGenerator<Document> {
  let position = 0;
  const fail = (uri: string, error: Error) => {
    // A document of this uri is good, and its own failure would cost that one.
    const name = wasRead(uri) ? `${uri} (document ${position})` : uri;
    failures.set(name, error);
    report({ type: "document", uri: name, outcome: "failed", chunks: 0, error });
  };
  for await (const { each } of boxed(source)) {
    if (position++ === 0) began();
    const given = givenDocument(each, position);
    if ("error" in given) {
      fail(given.uri, given.error);
      continue;
    }
    if (!map) {
      yield given.document;
      continue;
    }
    const { uri } = given.document;
    let mapped: Document | null;
    try {
      mapped = await map(given.document, { signal });
    } catch (thrown) {
      signal.throwIfAborted();
      fail(uri, asError(thrown));
      continue;
    }
    if (mapped === null) {
      leftOut(uri);
      report({ type: "skipped", uri, reason: "map left it out" });
      continue;
    }
    const made = givenDocument(mapped, position);
    if ("document" in made) yield made.document;
    else fail(uri, noDocument(made.error));
  }
}

/**
 * Wraps each item in a box: a stream awaits the items it hands out, and so reads their `then`, which may be a getter
 * that throws.
 */
async function* boxed(source: Source<unknown>): AsyncGenerator<{ readonly each: unknown }> {
  if (Symbol.asyncIterator in source) for await (const each of source) yield { each };
  else for (const each of source) yield { each: types.isPromise(each) ? await each : each };
}

function noDocument(cause: Error): Error {
  const message = `map must return the document, or null to leave it out. ${cause.message}`;
  return new OptionsError("options", message, { cause, option: "map" });
}
