import type {
  WireConsidered,
  WireConversation,
  WireDocument,
  WireExcerpt,
  WireFeedback,
  WireStatus,
  WireUpload,
  WireWholeConversation,
} from "../../../api/wire.js";
import type { Send } from "./http.js";

/** Limits a question to some documents. */
export interface DocumentFilter {
  readonly uri: { readonly in: readonly string[] };
}

/** Settings of answers that the reader has chosen; absent is as usual. */
export interface Choices {
  readonly chatModel?: string;
  readonly passages?: number;
  readonly instructions?: string;
}

/** Limits a question to documents, and sets how it is answered. */
export interface Asking {
  readonly filter?: DocumentFilter;
  /** Pictures that go with the question, as data addresses. */
  readonly images?: readonly string[];
  /** Settings of the answer; absent is as usual. */
  readonly settings?: Choices;
}

/** Narrows and orders the list of documents. */
export interface DocumentChoice {
  readonly folder?: string;
  readonly kind?: string;
  readonly sort?: "address" | "title" | "passages";
  readonly facets?: "true";
}

export interface ListedDocuments {
  readonly documents: readonly WireDocument[];
  readonly total: number;
  readonly folders?: readonly { readonly address: string; readonly name: string; readonly documents: number }[];
  readonly kinds?: readonly { readonly kind: string; readonly documents: number }[];
}

export type Client = ReturnType<typeof createClient>;

/** The server's operations. Those that answer return the response, whose body is a stream of events. */
export function createClient(send: Send) {
  const read = async <T>(method: string, path: string, json?: unknown): Promise<T> =>
    (await send(method, path, { json })).json() as Promise<T>;
  const conversation = (id: string, rest = "") => `api/conversations/${encodeURIComponent(id)}${rest}`;
  const upload = (name: string, rest = "") => `api/uploads/${encodeURIComponent(name)}${rest}`;
  const query = (fields: Record<string, string | number>) =>
    new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString();

  return {
    status: () => read<WireStatus>("GET", "api/status"),
    signIn: (token: string) => send("POST", "api/session", { json: { token } }),

    suggestions: async (uris: readonly string[], language: string) => {
      const json = { language, ...(uris.length > 0 && { uris }) };
      return (await read<{ readonly questions: { readonly question: string }[] }>("POST", "api/suggestions", json))
        .questions;
    },
    search: (question: string) => read<{ readonly considered: WireConsidered[] }>("POST", "api/search", { question }),

    /** A page of the conversations, those with the last question first. @param after the `next` of the page before. */
    conversations: (after?: string) =>
      read<{ readonly conversations: WireConversation[]; readonly next?: string }>(
        "GET",
        `api/conversations?${query({ limit: 1000, ...(after !== undefined && { after }) })}`,
      ),
    conversation: (id: string) => read<WireWholeConversation>("GET", conversation(id)),
    rename: (id: string, title: string) => read<WireConversation>("PATCH", conversation(id), { title }),
    deleteConversation: (id: string) => send("DELETE", conversation(id)),

    begin: (question: string, how: Asking, signal: AbortSignal) =>
      send("POST", "api/conversations", { json: { question, ...how }, signal }),
    ask: (id: string, question: string, how: Asking, signal: AbortSignal) =>
      send("POST", conversation(id, "/questions"), { json: { question, ...how }, signal }),
    branch: (
      id: string,
      { exchanges, question }: { readonly exchanges: number; readonly question: string },
      how: Asking,
      signal: AbortSignal,
    ) => send("POST", conversation(id, "/branch"), { json: { exchanges, question, ...how }, signal }),
    regenerate: (id: string, { images, settings }: Asking, signal: AbortSignal) =>
      send("POST", conversation(id, "/regenerate"), { json: { images, settings }, signal }),
    approve: (id: string, approvals: Readonly<Record<string, boolean>>, { settings }: Asking, signal: AbortSignal) =>
      send("POST", conversation(id, "/approvals"), { json: { approvals, settings }, signal }),
    rate: (id: string, position: number, feedback: Pick<WireFeedback, "rating" | "note"> | undefined) =>
      send("POST", conversation(id, "/feedback"), { json: { position, rating: "none", ...feedback } }),
    stop: (id: string) => send("POST", conversation(id, "/stop")),
    /** @param after number of the last event that was seen. */
    events: (id: string, after: number | undefined, signal: AbortSignal) =>
      send("GET", conversation(id, `/events${after === undefined ? "" : `?after=${after}`}`), { signal }),

    documents: (search: string, limit: number, offset: number, choice: DocumentChoice = {}) =>
      read<ListedDocuments>("GET", `api/documents?${query({ ...(search && { search }), ...choice, limit, offset })}`),
    deleteDocument: (uri: string) => send("DELETE", `api/documents?${query({ uri })}`),
    /** @param rows on each side, where the document is the row of a table */
    excerpt: (uri: string, start: number, end: number, around: number, rows: number) =>
      read<WireExcerpt>("GET", `api/passages?${query({ uri, start, end, around, rows })}`),

    uploads: async () => (await read<{ readonly uploads: WireUpload[] }>("GET", "api/uploads")).uploads,
    uploadPath: (name: string) => upload(name),
    retryUpload: (name: string) => read<WireUpload>("POST", upload(name, "/retry")),
    removeUpload: (name: string) => send("DELETE", upload(name)),
  };
}
