import { z } from "zod";
import { given } from "../../core/given.js";
import type { Document } from "../../core/types.js";
import { placeInDocument } from "../../text/blocks/places.js";
import { Refusal } from "../guard/refusal.js";
import { route } from "./route.js";
import { WireDocument, WireExcerpt, WireStatistics, WireStatus } from "./wire.js";

const uri = z.string().min(1).describe("Address of the document");
const offset = z.coerce.number().int().min(0);
const maxExcerptCharacters = 200_000;

export const documentRoutes = [
  route({
    method: "GET",
    path: "/api/status",
    summary: "Name and size of the collection, and what the caller may do",
    request: z.strictObject({}),
    reply: WireStatus,
    async serve(_, { kb, documents, access, title, uploads }) {
      const { mayWrite = false } = access;
      const counts = access.filter === undefined ? await kb.store.counts() : counted(await documents.documents());
      return {
        json: {
          title,
          documents: counts.documents,
          chunks: counts.chunks,
          mayWrite,
          ...given({ uploads: uploads?.limitsFor(access) }),
        },
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/statistics",
    summary: "Figures of the documents that the caller may see, in all and by what they were read from",
    request: z.strictObject({}),
    reply: WireStatistics,
    async serve(_, { kb, documents }) {
      const all = await documents.documents();
      const { space: embeddings, dimension } = kb.store;
      return { json: { ...counted(all), embeddings, ...given({ dimension }), sources: bySource(all) } };
    },
  }),
  route({
    method: "GET",
    path: "/api/documents",
    summary: "The documents in order of their addresses, a page at a time",
    request: z.strictObject({
      search: z.string().max(500).default("").describe("Only those with this text in title or address"),
      offset: offset.default(0),
      limit: z.coerce.number().int().min(1).max(1000).default(100),
    }),
    reply: z.object({ documents: z.array(WireDocument), total: z.int() }),
    async serve({ search, offset: from, limit }, { documents }) {
      const wanted = search.toLowerCase();
      const all = await documents.documents();
      const found = all.filter(({ title = "", uri: each }) => `${title}\n${each}`.toLowerCase().includes(wanted));
      const shown = found.slice(from, from + limit).map(({ uri: each, title, source, chunks }) => ({
        uri: each,
        ...given({ title, source }),
        chunks,
      }));
      return { json: { documents: shown, total: found.length } };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/documents",
    summary: "Delete a document; its file is untouched, unless it was uploaded",
    request: z.strictObject({ uri }),
    reply: z.object({ documents: z.int(), chunks: z.int() }),
    async serve({ uri: which }, { documents, access, uploads }) {
      if (access.mayWrite !== true) throw new Refusal(403, "forbidden", "Documents may not be deleted here");
      const deleted = await documents.deleteDocuments([which]);
      await uploads?.forget(which, access);
      return { json: deleted };
    },
  }),
  route({
    method: "GET",
    path: "/api/passages",
    summary: "A passage in its document, with the text around it",
    request: z.strictObject({
      uri,
      start: offset.default(0).describe("Offset of the passage, in UTF-16 code units"),
      end: offset.optional().describe("Offset just behind it. Default: its start"),
      around: z.coerce
        .number()
        .int()
        .min(0)
        .max(maxExcerptCharacters)
        .default(4000)
        .describe("Characters on each side"),
    }),
    reply: WireExcerpt,
    async serve({ uri: which, start, end = start, around }, { documents }) {
      const document = await documents.document(which);
      if (!document) throw new Refusal(404, "not-found", "There is no such document");
      return { json: excerptOf(document, { start, end: Math.max(start, end) }, around) };
    },
  }),
];

/** The text around a passage, as far as whole code points go. Pure. */
export function excerptOf(
  { uri: address, title, mediaType, text, anchors = [] }: Document,
  passage: { readonly start: number; readonly end: number },
  around: number,
): WireExcerpt {
  const start = Math.min(passage.start, text.length);
  const end = Math.min(passage.end, text.length, start + maxExcerptCharacters);
  const from = wholeCharacter(text, Math.max(0, start - around));
  const to = wholeCharacter(text, Math.min(text.length, end + around));
  const pages = anchors.flatMap(({ page: each, start: at }) => (each === undefined ? [] : [{ page: each, start: at }]));
  const { page, seconds } = placeInDocument({ text, anchors }, start);
  return {
    uri: address,
    ...given({ title, mediaType, page, seconds }),
    start,
    end,
    text: text.slice(from, to),
    from,
    length: text.length,
    pages: pages.filter(({ start: at }) => at >= from && at < to),
  };
}

/** An offset that splits no pair of surrogates. */
function wholeCharacter(text: string, at: number): number {
  const isInPair = /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1));
  return isInPair ? at - 1 : at;
}

function counted(documents: readonly { readonly chunks: number }[]) {
  return { documents: documents.length, chunks: documents.reduce((sum, { chunks }) => sum + chunks, 0) };
}

function bySource(
  documents: readonly { readonly source?: string; readonly chunks: number }[],
): WireStatistics["sources"] {
  const groups = new Map<string | undefined, { readonly chunks: number }[]>();
  for (const document of documents) {
    const group = groups.get(document.source);
    if (group) group.push(document);
    else groups.set(document.source, [document]);
  }
  return [...groups]
    .map(([source, group]) => ({ ...given({ source }), ...counted(group) }))
    .toSorted((one, other) => other.documents - one.documents);
}
