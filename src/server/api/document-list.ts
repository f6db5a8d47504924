/** The fields of a document that a list is made from. */
export interface ListedDocument {
  readonly uri: string;
  readonly title?: string;
  readonly chunks: number;
}

export interface DocumentSelection {
  /** Only those with this text in title or address. */
  readonly search?: string;
  /** Only those whose address begins with it; ends with a slash. */
  readonly folder?: string | undefined;
  /** Only those of this kind, as `kindOf` names it. */
  readonly kind?: string | undefined;
  /** Default: `address`. */
  readonly sort?: "address" | "title" | "passages";
}

/** A folder, and the documents at any depth in it. */
export interface DocumentFolder {
  readonly address: string;
  readonly name: string;
  readonly documents: number;
}

/** Documents of a kind. */
export interface DocumentKind {
  readonly kind: string;
  readonly documents: number;
}

/** The documents that a list shows, in its order. Pure. */
export function selectDocuments<Each extends ListedDocument>(
  all: readonly Each[],
  { search = "", folder = "", kind, sort = "address" }: DocumentSelection,
): readonly Each[] {
  const wanted = search.toLowerCase();
  const found = all.filter(
    ({ title = "", uri }) =>
      uri.startsWith(folder) &&
      (kind === undefined || kindOf(uri) === kind) &&
      (wanted === "" || `${title}\n${uri}`.toLowerCase().includes(wanted)),
  );
  if (sort === "passages") return found.toSorted((one, other) => other.chunks - one.chunks);
  if (sort === "address") return found;
  const name = ({ title, uri }: Each) => title ?? uri;
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  return found.toSorted((one, other) => compare(name(one), name(other)));
}

/** The ending of a document's file in lower case, `web` for a page without one, else empty. Pure. */
export function kindOf(uri: string): string {
  const path = pathOf(uri);
  const ending = /\.([a-z\d]{1,8})$/i.exec(path.slice(path.lastIndexOf("/") + 1))?.[1]?.toLowerCase();
  return ending ?? (/^https?:/i.test(uri) ? "web" : "");
}

/** The kinds of documents, the most frequent first. Pure. */
export function kindsOf(documents: readonly Pick<ListedDocument, "uri">[]): DocumentKind[] {
  const counts = new Map<string, number>();
  for (const { uri } of documents) counts.set(kindOf(uri), (counts.get(kindOf(uri)) ?? 0) + 1);
  return [...counts]
    .map(([kind, count]) => ({ kind, documents: count }))
    .toSorted((one, other) => other.documents - one.documents || (one.kind < other.kind ? -1 : 1));
}

/**
 * The folders directly below a folder, in the order of their names; without a folder, below the deepest one that holds all
 * documents. Pure.
 */
export function foldersIn(documents: readonly Pick<ListedDocument, "uri">[], folder?: string): DocumentFolder[] {
  const paths = documents.map(({ uri }) => pathOf(uri));
  const root = folder ?? commonFolder(paths);
  const counts = new Map<string, number>();
  for (const path of paths) {
    const end = path.startsWith(root) ? path.indexOf("/", root.length) : -1;
    if (end < 0) continue;
    const address = path.slice(0, end + 1);
    counts.set(address, (counts.get(address) ?? 0) + 1);
  }
  return [...counts]
    .map(([address, count]) => ({ address, name: decoded(address.slice(root.length, -1)), documents: count }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

/** An address without what stands in its file or asks a web server for something. */
function pathOf(uri: string): string {
  return uri.replace(/[?#].*$/s, "");
}

function commonFolder([first = "", ...others]: readonly string[]): string {
  let length = first.lastIndexOf("/") + 1;
  for (const path of others) {
    while (length > 0 && !path.startsWith(first.slice(0, length))) length = first.lastIndexOf("/", length - 2) + 1;
  }
  return first.slice(0, length);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
