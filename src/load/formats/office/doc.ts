import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import { loadHtml, markdownOfNodes } from "../html/html.js";
import { parseHtml } from "../element-tree.js";
import type { FileToLoad, Loader } from "../loader.js";
import { loadEml } from "../mail/eml.js";
import { hasCircularChain, isCompoundFile } from "./compound-file.js";
import { loadDocx } from "./docx.js";
import { loadRtf } from "./rtf.js";

/**
 * Reads a Word document from before 2007 as Markdown: paragraphs, tables, then notes and text boxes. Which paragraphs are
 * headings or lists is not told. Programs also give the ending to Rich Text, to pages (Confluence packs them as a mail) and to
 * today's Word documents, which are
 * read as such.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted.
 */
export const loadDoc: Loader = async (file, ...how) => {
  const start = Buffer.from(file.bytes.subarray(0, 512)).toString("latin1");
  if (/^\s*\{\\rtf/.test(start)) return loadRtf(file, ...how);
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml|head|body|meta)/i.test(start)) return loadHtml(file);
  if (/^(?:MIME-Version|Date|From|Message-ID):/i.test(start)) return pageInMail(file, ...how);
  if (start.startsWith("PK")) return loadDocx(file, ...how);
  if (!isCompoundFile(file.bytes))
    throw unreadable(file, wrongKindReason(file.bytes, "Office 97") ?? "is no Word document");
  if (hasCircularChain(file.bytes)) throw unreadable(file, "is damaged: its chains of sectors run in circles");
  const parts = await wordParts(file);
  return { ...markdownOfNodes(parseHtml(htmlOf(parts)).children) };
};

/** The page that Confluence packs as a mail. Its subject is the same for all pages. */
const pageInMail: Loader = async (...given) => {
  const { text, mediaType } = await loadEml(...given);
  const title = /^#{1,6} (.*)/m.exec(text)?.[1];
  return { text, mediaType, anchors: [], ...(title !== undefined && { title }) };
};

/** The options are missing from the types of the package. */
type WordPart = (options: { readonly filterUnicode: boolean; readonly includeHeadersAndFooters?: boolean }) => string;
type WordParts = Readonly<Record<"getBody" | "getFootnotes" | "getEndnotes" | "getTextboxes", WordPart>>;

async function wordParts(file: FileToLoad): Promise<string> {
  const { default: WordExtractor } = await import("word-extractor");
  try {
    const document: WordParts = await new WordExtractor().extract(Buffer.from(file.bytes));
    const asWritten = { filterUnicode: false };
    const boxes = document.getTextboxes({ ...asWritten, includeHeadersAndFooters: false });
    return [document.getBody(asWritten), document.getFootnotes(asWritten), document.getEndnotes(asWritten), boxes].join(
      "\n",
    );
  } catch (cause) {
    const reason = `is damaged, encrypted or older than Word 97 (${asError(cause).message})`;
    throw unreadable(file, `${reason}: open it in a word processor and save it as .docx`, cause);
  }
}

/** A row of a table ends with a tab, and so does each cell in it. */
function htmlOf(text: string): string {
  const lines = text.replace(/[&<]/g, (sign) => (sign === "&" ? "&amp;" : "&lt;")).split(/\r\n?|\n/);
  const isRow = (line: string | undefined) => line !== undefined && /[^\t]\t+$/.test(line);
  return lines
    .map((line, index) => {
      if (!isRow(line)) return `<p>${line.replaceAll("\v", "<br>")}</p>`;
      const cells = line.slice(0, -1).split("\t");
      const row = `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
      return `${isRow(lines[index - 1]) ? "" : "<table>"}${row}${isRow(lines[index + 1]) ? "" : "</table>"}`;
    })
    .join("\n");
}

function unreadable({ uri }: FileToLoad, reason: string, cause?: unknown): LoadError {
  return new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
}
