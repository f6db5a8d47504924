import { z } from "zod";
import { given } from "../../core/given.js";
import { type Access, hasRole } from "../access.js";
import { offeredChoices } from "../choices.js";
import { Refusal } from "../guard/refusal.js";
import { excerptOf, maxExcerptCharacters } from "./excerpts/excerpt.js";
import { mailHeadOf } from "./excerpts/mail-head.js";
import { tableRowsOf } from "./excerpts/table-rows.js";
import { foldersIn, kindsOf, selectDocuments } from "./document-list.js";
import { pageFields } from "./request-fields.js";
import { route } from "./route.js";
import { WireDocument, WireExcerpt, WireStatistics, WireStatus } from "./wire.js";

const uri = z
  .string()
  .min(1)
  .describe("Address of the document")
  .meta({ examples: ["file:///docs/keys.md"] });
const offset = z.coerce.number().int().min(0);

export const documentRoutes = [
  route({
    method: "GET",
    path: "/api/status",
    operation: "getStatus",
    summary: "Name and size of the collection, and what the caller may do",
    request: z.strictObject({}),
    reply: WireStatus,
    async serve(_, { kb, documents, access, title, uploads, originals, pictures, choices }) {
      const counts = access.filter === undefined ? await kb.store.counts() : counted(await documents.documents());
      return {
        json: {
          title,
          documents: counts.documents,
          chunks: counts.chunks,
          mayWrite: hasRole(access, "manage"),
          chatModel: kb.hasChatModel,
          images: kb.seesPictures,
          originals: originals === true ? ("files" as const) : originals ? ("documents" as const) : ("none" as const),
          pictures: pictures !== undefined,
          ...given({ choices: offeredChoices(choices), uploads: uploads?.limitsFor(access) }),
        },
      };
    },
  }),
  route({
    method: "GET",
    path: "/api/statistics",
    operation: "getStatistics",
    summary: "Figures of the documents that the caller may see, in all and by what they were read from",
    request: z.strictObject({}),
    reply: WireStatistics,
    async serve(_, { kb, documents, access }) {
      const all = await documents.documents();
      const { space: embeddings, dimension } = kb.store;
      return { json: { ...counted(all), embeddings, ...given({ dimension }), sources: bySource(all, access) } };
    },
  }),
  route({
    method: "GET",
    path: "/api/documents",
    operation: "listDocuments",
    summary: "The documents, a page at a time",
    request: z.strictObject({
      search: z
        .string()
        .max(500)
        .default("")
        .describe("Only those with this text in title or address")
        .meta({ examples: ["keys"] }),
      folder: z
        .string()
        .max(4000)
        .optional()
        .describe("Only those in this folder, the beginning of their addresses with its slash")
        .meta({ examples: ["file:///docs/"] }),
      kind: z
        .string()
        .max(20)
        .optional()
        .describe("Only files with this ending; web: pages without one")
        .meta({ examples: ["pdf"] }),
      sort: z.enum(["address", "title", "passages"]).default("address").describe("passages: those with the most first"),
      facets: z
        .enum(["true", "false"])
        .default("false")
        .describe("Also list folders and kinds, which reads all documents"),
      ...pageFields(100),
    }),
    reply: z.object({
      documents: z.array(WireDocument),
      total: z.int(),
      folders: z
        .array(z.object({ address: z.string(), name: z.string(), documents: z.int() }))
        .optional()
        .describe("Folders directly below `folder`, or below the deepest one that holds all documents"),
      kinds: z.array(z.object({ kind: z.string(), documents: z.int() })).optional(),
    }),
    async serve({ search, folder, kind, sort, facets, offset: from, limit }, { kb, documents, access }) {
      const isFaceted = facets === "true";
      // Without a choice the store counts and ends at the page by itself.
      const isChosen = search !== "" || folder !== undefined || kind !== undefined || sort !== "address";
      const isWhole = !isChosen && !isFaceted && access.filter === undefined;
      const all = await documents.documents(isWhole ? { limit: from + limit } : {});
      const found = selectDocuments(all, { search, folder, kind, sort });
      const total = isWhole ? (await kb.store.counts()).documents : found.length;
      const shown = found.slice(from, from + limit).map(({ uri: address, title, source, chunks }) => ({
        uri: address,
        ...given({ title, source: shownSource(source, access) }),
        chunks,
      }));
      const shownFacets = isFaceted && {
        folders: foldersIn(folder === undefined ? all : selectDocuments(all, { folder }), folder),
        kinds: kindsOf(selectDocuments(all, { folder })),
      };
      return { json: { documents: shown, total, ...shownFacets } };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/documents",
    operation: "deleteDocument",
    summary: "Delete a document; its file is untouched, unless it was uploaded",
    request: z.strictObject({ uri }),
    reply: z.object({ documents: z.int(), chunks: z.int() }),
    async serve({ uri: which }, { documents, access, uploads, audit }) {
      if (!hasRole(access, "manage")) throw new Refusal(403, "forbidden", "Documents may not be deleted here");
      audit({ event: "deletion", uri: which });
      const deleted = await documents.deleteDocuments([which]);
      await uploads?.forget(which, access);
      return { json: deleted };
    },
  }),
  route({
    method: "GET",
    path: "/api/passages",
    operation: "getPassage",
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
      rows: z.coerce
        .number()
        .int()
        .min(0)
        .max(100)
        .default(0)
        .describe("Of a row of a table: it as cells, with so many rows on each side. 0 for its text alone"),
    }),
    reply: WireExcerpt,
    async serve({ uri: which, start, end = start, around, rows }, { documents, audit }) {
      const document = await documents.document(which);
      if (!document) throw new Refusal(404, "not-found", "There is no such document");
      audit({ event: "document", uri: which });
      const [mail, table] = await Promise.all([
        mailHeadOf(document, documents),
        rows === 0 ? undefined : tableRowsOf(document, rows, documents),
      ]);
      const excerpt = excerptOf(document, { start, end: Math.max(start, end) }, around);
      return { json: { ...excerpt, ...given({ mail, rows: table }) } };
    },
  }),
];

function counted(documents: readonly { readonly chunks: number }[]) {
  return { documents: documents.length, chunks: documents.reduce((sum, { chunks }) => sum + chunks, 0) };
}

/** Only those who manage the documents see paths of the server; others see the last name of each. */
function shownSource(source: string | undefined, access: Access): string | undefined {
  if (hasRole(access, "manage")) return source;
  return source?.replaceAll(/(?:file:\/\/)?(?:\/|[a-z]:[\\/])[^\s]*?([^\s/\\]*)[/\\]?(?=\s|$)/gi, "$1");
}

function bySource(
  documents: readonly { readonly source?: string; readonly chunks: number }[],
  access: Access,
): WireStatistics["sources"] {
  const groups = new Map<string | undefined, { readonly chunks: number }[]>();
  for (const document of documents) {
    const group = groups.get(document.source);
    if (group) group.push(document);
    else groups.set(document.source, [document]);
  }
  return [...groups]
    .map(([source, group]) => ({ ...given({ source: shownSource(source, access) }), ...counted(group) }))
    .toSorted((one, other) => other.documents - one.documents);
}
