import type { z } from "zod";
import type { Searchable } from "../../core/ports.js";
import type { KnowledgeBase, ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import type { AskOptions } from "../../knowledge-base/question-options.js";
import type { Access } from "../access.js";
import type { RunningAnswers } from "./running-answers.js";
import type { Uploads } from "./uploads.js";
import type { WireEvent } from "./wire.js";

/** The things that all routes work with. */
export interface RouteParts {
  readonly kb: KnowledgeBase;
  readonly title: string;
  /** How answers are made. */
  readonly ask: Omit<AskOptions, "filter" | "signal" | "report">;
  readonly answers: RunningAnswers;
  /** Is told of errors that callers are not told of. */
  readonly onError: ((error: unknown) => void) | undefined;
  /** Absent: nobody uploads. */
  readonly uploads: Uploads | undefined;
}

/** One request, after it was let in. */
export interface RouteContext extends RouteParts {
  readonly request: Request;
  readonly access: Access;
  /** The documents and conversations that it may see. */
  readonly documents: ScopedKnowledgeBase;
  /** The same documents, for reading passages by id. */
  readonly passages: Pick<Searchable, "hits">;
  /** Names what it may see, and with it whose answers are its own. */
  readonly accessName: string;
}

/** Events with their numbers, as a stream of them is sent. */
export type NumberedEvents = AsyncIterable<readonly [number: number, event: WireEvent]>;

export type Reply =
  | { readonly json: unknown; readonly status?: 200 | 202 }
  | { readonly events: NumberedEvents }
  | { readonly nothing: true };

/** One operation of the API, as it is served and described. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces. */
  readonly path: string;
  /** One line for the description of the API. */
  readonly summary: string;
  /** Path parameters, query parameters, and the fields of the body. */
  readonly request: z.ZodObject;
  /** The JSON of the reply; `events`: a stream of them; `nothing`: status 204. */
  readonly reply: z.ZodType | "events" | "nothing";
  /** The body is bytes, which the route reads itself. */
  readonly takesBytes?: true;
  readonly serve: (fields: never, context: RouteContext) => Reply | Promise<Reply>;
}

/** A row of the table; its `serve` gets what its schema returns. */
export function route<Schema extends z.ZodObject>(
  row: Omit<Route, "request" | "serve"> & {
    readonly request: Schema;
    readonly serve: (fields: z.output<Schema>, context: RouteContext) => Reply | Promise<Reply>;
  },
): Route {
  return row;
}
