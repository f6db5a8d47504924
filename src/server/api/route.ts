import type { z } from "zod";
import type { Searchable } from "../../core/ports.js";
import type { Document } from "../../core/types.js";
import type { KnowledgeBase, ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import type { AskOptions } from "../../knowledge-base/question-options.js";
import type { Access } from "../access.js";
import type { CallerChoices } from "../choices.js";
import type { AuditedDeed } from "../operations/audit.js";
import type { Metrics } from "../operations/metrics.js";
import type { RecentAnswers } from "./recent-answers.js";
import type { CallersAnswers } from "./running-answers.js";
import type { Uploads } from "./uploads.js";
import type { WireEvent } from "./wire.js";

/** Source of originals: `true` sends the files of this machine that documents were read from. */
export type Originals = boolean | ((document: Document) => Response | Promise<Response>);

/** Context that all routes share. */
export interface RouteParts {
  readonly kb: KnowledgeBase;
  readonly title: string;
  /** Options of answers. */
  readonly ask: Omit<AskOptions, "filter" | "signal" | "report">;
  /** Settings that callers may choose for their own questions. */
  readonly choices: CallerChoices;
  /** Counts answers; absent when nobody reads the figures. */
  readonly metrics: Metrics | undefined;
  /** Called with errors that callers are not told of. */
  readonly onError: ((error: unknown) => void) | undefined;
  /** Whether a caller may approve calls of tools that write. Without an `access` function, every caller is the owner. */
  readonly approvesWrites: (access: Access) => boolean;
  /** Answers that no conversation keeps. */
  readonly recentAnswers: RecentAnswers;
  /** Whether readers get the files of documents, and how. */
  readonly originals: Originals;
  /** Folder of pictures that a model described; absent when none are shown. */
  readonly pictures: string | undefined;
  /** Uploads; absent when they are disabled. */
  readonly uploads: Uploads | undefined;
}

/** One request, after it was let in. */
export interface RouteContext extends RouteParts {
  readonly request: Request;
  readonly access: Access;
  readonly answers: CallersAnswers;
  /** Counts tokens that an answer took. */
  readonly spent: (tokens: number) => void;
  /** Records what the caller does. */
  readonly audit: (deed: AuditedDeed) => void;
  /** The documents and conversations that it may see. */
  readonly documents: ScopedKnowledgeBase;
  /** The same documents, for reading passages by id. */
  readonly passages: Pick<Searchable, "hits">;
  /** Name of its permissions, and so of the answers that are its own. */
  readonly accessName: string;
}

/** Events with their numbers, as a stream of them is sent. */
export type NumberedEvents = AsyncIterable<readonly [number: number, event: WireEvent]>;

export type Reply =
  | { readonly json: unknown; readonly status?: 200 | 202 }
  | { readonly events: NumberedEvents }
  | { readonly response: Response }
  | { readonly nothing: true };

/** One operation, as the description of the API has it. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with parameters in braces. */
  readonly path: string;
  /** Name for generated clients. */
  readonly operation: string;
  /** One line for the description of the API. */
  readonly summary: string;
  /** Path parameters, query parameters, and the fields of the body. */
  readonly request: z.ZodObject;
  /** The JSON of the reply; `events`: a stream of them; `text`: a word; `file`: bytes; `nothing`: status 204. */
  readonly reply: z.ZodType | "events" | "text" | "file" | "nothing";
  /** The body is bytes, which the route reads itself. */
  readonly takesBytes?: true;
}

/** One operation of the API, as it is served. */
export interface Route extends Operation {
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
