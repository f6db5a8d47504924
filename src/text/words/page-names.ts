import type { Chunk } from "../../core/types.js";
import { queryTerms, termCounts, terms, type WeighedTerms } from "./terms.js";

/** Maximum terms of a name; a longer question is a sentence, which names nothing. */
const maxTerms = 6;

/** Files that are the page of their folder. */
const folderPages: ReadonlySet<string> = new Set(["index", "_index", "readme", "default", "main"]);

/**
 * The terms of a name in one spelling, so that `maxConnections`, `max_connections` and "max connections" are the same name;
 * `undefined` for one of stop words alone, or too long to be one.
 */
export function nameKey(text: string): string | undefined {
  const words = text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    // `close([callback])` is looked up as `close()`.
    .replace(/(?<=[\p{L}\p{N}_])\([^()]*\)/gu, " ")
    .replace(/[_.,:;/()[\]{}<>#`'"!?-]+/g, " ");
  const found = terms(words);
  return found.length === 0 || found.length > maxTerms ? undefined : found.join(" ");
}

/** The name of a file as its page's, without its ending: that of the folder for `index.md` and its like. */
export function fileName(uri: string): string {
  const segments = pathOf(uri)
    .split("/")
    .filter((segment) => segment !== "");
  const name = (segments.at(-1) ?? "").replace(/\.[A-Za-z\d]{1,8}$/, "");
  return folderPages.has(name.toLowerCase()) ? (segments.at(-2) ?? name) : name;
}

/** Begins a term that is a whole name, so that it is none of a text. */
const nameSign = "=";

/** The number in `doc-12` and an id such as `ug7v899j` are found as part of the whole name alone. */
const isWord = /^\p{L}+\d{0,4}$/u;

/** Longest term of a name, in UTF-16 code units. */
const maxNameLength = 128;

/** A name counts this share of a word in a search: it brings the pages of that name among the best, and does not outvote other words. */
const nameShare = 0.3;

/**
 * The terms that a search looks up for a question, weighed: its words, and the name that it may be. With phrases it is meant literally:
 * function words count like others, and a name brings nothing that lacks the phrase.
 */
export function searchTerms(question: string, phrases: readonly string[]): WeighedTerms {
  if (phrases.length > 0) return termCounts(question);
  const words = queryTerms(question);
  const name = nameTerm(question);
  return name === undefined ? words : new Map([...words, [name, nameShare]]);
}

function nameTerm(name: string): string | undefined {
  const key = nameKey(name);
  return key === undefined ? undefined : `${nameSign}${key.replaceAll(" ", "_")}`.slice(0, maxNameLength);
}

/**
 * Terms by which a chunk is found beside those of its context and text, with repetitions: the words of its page's file name, unless the
 * title or headings have them, and the names of the page and of the sections in the chunk as terms of their own. The page's count twice.
 */
export function namingTerms({ documentId, context, text }: Pick<Chunk, "documentId" | "context" | "text">): string[] {
  const [title = "", ...above] = contextHeadings(context);
  const file = nameOfFile(documentId);
  const missing = file.words.length === 0 ? [] : withoutThoseOf(context, file.words);
  const page = [...missing, ...new Set([remembered(title), file.term].filter((term) => term !== undefined))];
  const sections = [...above, ...headingsIn(text)].map(remembered).filter((term) => term !== undefined);
  return [...page, ...page, ...new Set(sections.filter((term) => !page.includes(term)))];
}

interface NameOfFile {
  readonly documentId: string;
  readonly words: readonly string[];
  readonly term: string | undefined;
}

/** The last one, since chunks come document by document. */
let lastFile: NameOfFile | undefined;

function nameOfFile(documentId: string): NameOfFile {
  if (lastFile?.documentId === documentId) return lastFile;
  const name = fileName(documentId);
  // Numbers and ids of records are no names.
  const key = /\p{L}{3}|\p{Script=Han}/u.test(name) ? nameKey(name) : undefined;
  const words = key?.split(" ").filter((word) => isWord.test(word)) ?? [];
  lastFile = { documentId, words, term: key === undefined ? undefined : nameTerm(name) };
  return lastFile;
}

function withoutThoseOf(context: string, words: readonly string[]): readonly string[] {
  const others = new Set(terms(context));
  return words.filter((word) => !others.has(word));
}

const rememberedNames = new Map<string, string | undefined>();

/** Titles and headings come again with each chunk of theirs, and many headings with each page. */
function remembered(name: string): string | undefined {
  if (rememberedNames.has(name)) return rememberedNames.get(name);
  if (rememberedNames.size === 1024) rememberedNames.clear();
  const term = nameTerm(name);
  rememberedNames.set(name, term);
  return term;
}

/** The title and the headings above a chunk, outermost first. */
function contextHeadings(context: string): readonly string[] {
  return context === "" ? [] : context.split("\n", 1)[0]!.split(" > ");
}

function headingsIn(text: string): readonly string[] {
  if (!text.includes("#")) return [];
  const found = text.matchAll(/^ {0,3}#{1,6}[ \t]+(\S.{0,200}?)[ \t]*#*[ \t]*(?:\{#[^}\n]*\})?[ \t]*$/gm);
  return Array.from(found, ([, heading]) => heading!);
}

/** The headings above a passage, and those in it. */
export function headingsOf({ context, text }: Pick<Chunk, "context" | "text">): readonly string[] {
  return [...contextHeadings(context), ...headingsIn(text)];
}

function pathOf(uri: string): string {
  const path = uri.replace(/^[a-z][a-z\d+.-]*:(?:\/\/[^/]*)?/i, "").replace(/[?#].*$/s, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
