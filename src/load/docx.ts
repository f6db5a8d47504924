import { LoadError, asError } from "../errors.js";
import { markdownOf } from "./html.js";
import { parseXml } from "./html-tree.js";
import type { Loader } from "./loader.js";
import { documentProperties } from "./office/document-properties.js";
import { equationText } from "./office/equation.js";
import { unpack, type Package } from "./office/package.js";
import { headingStyles } from "./office/word-headings.js";

/**
 * A Word document as Markdown: headings, lists, tables, footnotes and equations. Page headers, pictures and comments are
 * left out. It has no anchors: where a page of such a file ends is up to the program that shows it.
 *
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of the format before 2007.
 */
export const loadDocx: Loader = async (file) => {
  const parts = unpack(file, (path) => path.endsWith(".xml") || path.endsWith(".rels"));
  try {
    const html = await htmlOf(lightened(parts));
    const { title, metadata } = documentProperties(parts);
    const loaded = markdownOf(html);
    const named = title ?? loaded.title;
    return { ...loaded, ...(named !== undefined && { title: named }), ...(metadata && { metadata }) };
  } catch (cause) {
    const { message } = asError(cause);
    throw new LoadError("unreadable", file.uri, `${file.uri} is no Word document that can be read: ${message}`, {
      cause,
    });
  }
};

/** Paragraph styles whose meaning is in their name. */
const styles = [
  "p[style-name='Title'] => h1:fresh",
  ...["Source Code", "Code", "HTML Preformatted", "Preformatted Text", "Plain Text"].map(
    (name) => `p[style-name='${name}'] => pre:separator('\\n')`,
  ),
];

async function htmlOf(parts: Package): Promise<string> {
  const { default: mammoth } = await import("mammoth");
  const headings = [...headingStyles(parts.xml("word/styles.xml"))].map(
    ([name, level]) => `p[style-name='${name.replace(/[\\']/g, "\\$&")}'] => h${level}:fresh`,
  );
  const { value } = await mammoth.convertToHtml(
    { buffer: parts.packed() },
    {
      styleMap: [...styles, ...headings],
      convertImage: mammoth.images.imgElement(async () => ({ src: "" })),
      externalFileAccess: false,
    },
  );
  return (
    value
      // From a note back to where it is called.
      .replace(/<a href="#(?:foot|end)note-ref-\d+">↑<\/a>/gu, "")
      .replace(/<input type="checkbox"( checked="checked")? \/>/gu, (_, checked) => (checked ? "☒" : "☐"))
  );
}

const documentPart = "word/document.xml";

/**
 * The same document without what nobody reads, which is most of its markup: mammoth takes half the time. Equations, which
 * it does not know, become text.
 */
function lightened(parts: Package): Package {
  const content = parts.text(documentPart);
  if (content === undefined) return parts;
  return parts.with(
    documentPart,
    content
      .replace(/ (?:w:rsid\w*|w14:\w+)="[^"]*"/gu, "")
      .replace(unread, "")
      .replace(direction, "")
      .replace(reading, "$1")
      .replace(otherBreak, "<w:br/>")
      .replace(hidden, "")
      .replace(/<m:oMathParaPr>.*?<\/m:oMathParaPr>|<\/?m:oMathPara(?:\s[^>]*)?>/gsu, "")
      .replace(/<m:oMath(?:\s[^>]*)?>.*?<\/m:oMath>/gsu, asRun),
  );
}

/** How letters look and where paragraphs stand. */
const unread =
  /<w:(?:rtl|ind|rFonts|spacing|jc|szCs|sz|widowControl|lang|proofErr|bookmarkEnd|lastRenderedPageBreak|color|kern)(?:\s[^>]*)?\/>|<w:(tabs|pBdr|tblBorders|tcBorders)>.*?<\/w:\1>/gsu;

/** Around what is written from right to left. */
const direction = /<\/?w:(?:dir|bdo)(?:\s[^>]*)?>/gu;
/** A word with how to say it above, of which the word is what stands in the text. */
const reading =
  /<w:r(?:\s[^>]*)?>(?:<w:rPr>(?:(?!<\/w:rPr>).)*<\/w:rPr>)?<w:ruby>(?:(?!<\/w:ruby>).)*<w:rubyBase>((?:(?!<\/w:rubyBase>).)*)<\/w:rubyBase><\/w:ruby><\/w:r>/gsu;
/** The end of a page or column parts words as that of a line does. */
const otherBreak = /<w:br\s[^>]*w:type="(?:page|column)"[^>]*\/>/gu;
/** What Word shows to nobody; the marks of a field stay, as one without its other would take all behind it with it. */
const hidden =
  /<w:r(?:\s[^>]*)?><w:rPr>(?:(?!<\/w:rPr>).)*<w:vanish\/>(?:(?!<\/w:rPr>).)*<\/w:rPr>(?:(?!<w:r[\s>]|<w:fldChar).)*?<\/w:r>/gsu;

function asRun(equation: string): string {
  const text = equationText(parseXml(equation)).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
}
