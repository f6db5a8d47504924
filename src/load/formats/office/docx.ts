import { LoadError, asError } from "../../../core/errors.js";
import { markdownOfNodes } from "../html/html.js";
import { pictureWords } from "../html/inline.js";
import { officeMathText } from "../html/math.js";
import { parseHtml, parseXml } from "../element-tree.js";
import type { FoundPicture, Loader } from "../loader.js";
import { byId, lineage, plainRun, valueOf, withMarks, withNumbers, type ElementsById } from "./word/numbers.js";
import { type MarkedPicture, pictureMark, placedPictures } from "./word/pictures.js";
import { unpack, type Package } from "./package.js";

/**
 * Reads a Word document as Markdown: headings, lists, tables, footnotes and equations, with
 * the numbers that Word shows. Page headers, pictures and comments
 * are left out. It has no anchors: the program that shows the file decides where a page ends.
 *
 * @throws LoadError (`unreadable`) when it is damaged, encrypted, or of the format before 2007.
 */
export const loadDocx: Loader = async (file) => {
  const { wantsPictures = false } = file;
  const isMarkup = (path: string) => path.endsWith(".xml") || path.endsWith(".rels");
  const parts = unpack(file, isMarkup);
  try {
    const read = markdownOfNodes(parseHtml(await htmlOf(withoutLayout(parts))).children);
    const pictures = wantsPictures && {
      pictures: await picturesIn(
        unpack(file, (path) => isMarkup(path) || path.startsWith("word/media/")),
        read.text,
      ),
    };
    return { ...read, ...parts.properties(), ...pictures };
  } catch (cause) {
    const message = `${file.uri} is not a Word document that can be read: ${asError(cause).message}`;
    throw new LoadError("unreadable", file.uri, message, { cause });
  }
};

/** The pictures of a document at their places in its text, which a second conversion shows. */
async function picturesIn(parts: Package, text: string): Promise<FoundPicture[]> {
  const pictures: MarkedPicture[] = [];
  const html = await htmlOf(withoutLayout(parts), async ({ altText = "", readAsBuffer }) => {
    const mark = pictureMark(pictures.length);
    const caption = altText.trim();
    const index = pictures.push({ caption }) - 1;
    // One that the file names and does not have is left out.
    const bytes = await readAsBuffer().catch(() => undefined);
    if (bytes) pictures[index] = { bytes, caption };
    return pictureWords(caption) + mark;
  });
  return placedPictures(text, markdownOfNodes(parseHtml(html).children).text, pictures);
}

/** Paragraph styles whose meaning is in their name. */
const knownStyles = [
  "p[style-name='Title'] => h1:fresh",
  ...["Source Code", "Code", "HTML Preformatted", "Preformatted Text", "Plain Text"].map(
    (name) => `p[style-name='${name}'] => pre:separator('\\n')`,
  ),
];

interface WordPicture {
  readonly altText?: string;
  readonly readAsBuffer: () => Promise<Uint8Array>;
}

/** @param wordsOf makes the alternative words of a picture. Default: those of the document. */
async function htmlOf(parts: Package, wordsOf?: (picture: WordPicture) => Promise<string>): Promise<string> {
  const { default: mammoth } = await import("mammoth");
  const headings = [...headingStyles(byId(parts.xml("word/styles.xml"), "w:style", "w:styleId"))].map(
    ([name, level]) => `p[style-name='${name.replace(/[\\']/g, "\\$&")}'] => h${level}:fresh`,
  );
  const { value } = await mammoth.convertToHtml(
    { buffer: parts.packed() },
    {
      styleMap: [...knownStyles, ...headings],
      convertImage: mammoth.images.imgElement(async (picture) => ({
        src: "",
        ...(wordsOf && { alt: await wordsOf(picture) }),
      })),
      externalFileAccess: false,
    },
  );
  return (
    withMarks(value)
      // Links from a note back to its mark.
      .replace(/<a href="#(?:foot|end)note-ref-\d+">↑<\/a>/gu, "")
      .replace(/<input type="checkbox"( checked="checked")? \/>/gu, (_, checked) => (checked ? "☒" : "☐"))
  );
}

const documentPart = "word/document.xml";

/**
 * Strips the markup that has no effect on the text, which is most of it: mammoth then takes half the time. Equations and
 * numbers, which it does not know, become text.
 */
function withoutLayout(parts: Package): Package {
  const content = parts.text(documentPart);
  if (content === undefined) return parts;
  return parts.with(
    documentPart,
    withNumbers(
      content
        .replace(/ (?:w:rsid\w*|w14:\w+)="[^"]*"/gu, "")
        .replace(layout, "")
        .replace(direction, "")
        .replace(ruby, "$1")
        .replace(pageBreak, "<w:br/>")
        .replace(hidden, "")
        .replace(/<m:oMathParaPr>.*?<\/m:oMathParaPr>|<\/?m:oMathPara(?:\s[^>]*)?>/gsu, "")
        .replace(/<m:oMath(?:\s[^>]*)?>.*?<\/m:oMath>/gsu, equationRun),
      parts,
    ),
  );
}

/** Formatting of letters and position of paragraphs. */
const layout =
  /<w:(?:rtl|ind|rFonts|spacing|jc|szCs|sz|widowControl|lang|proofErr|bookmarkEnd|lastRenderedPageBreak|color|kern)(?:\s[^>]*)?\/>|<w:(tabs|pBdr|tblBorders|tcBorders|pPrChange)(?:\s[^>]*)?>.*?<\/w:\1>/gsu;
/** Marks around text that is written from right to left. */
const direction = /<\/?w:(?:dir|bdo)(?:\s[^>]*)?>/gu;
/** A word with its reading above: the word is the text. */
const ruby =
  /<w:r(?:\s[^>]*)?>(?:<w:rPr>(?:(?!<\/w:rPr>).)*<\/w:rPr>)?<w:ruby>(?:(?!<\/w:ruby>).)*<w:rubyBase>((?:(?!<\/w:rubyBase>).)*)<\/w:rubyBase><\/w:ruby><\/w:r>/gsu;
/** The end of a page or column separates words as that of a line does. */
const pageBreak = /<w:br\s[^>]*w:type="(?:page|column)"[^>]*\/>/gu;
/** Hidden text. The marks of a field stay: one without its partner would take all text after it along. */
const hidden =
  /<w:r(?:\s[^>]*)?><w:rPr>(?:(?!<\/w:rPr>).)*<w:vanish\/>(?:(?!<\/w:rPr>).)*<\/w:rPr>(?:(?!<w:r[\s>]|<w:fldChar).)*?<\/w:r>/gsu;

function equationRun(equation: string): string {
  return plainRun(officeMathText(parseXml(equation)));
}

/**
 * Names of the paragraph styles of headings, with their level, 1 to 6: those with a level in the outline, their own or from
 * the style that they are made from, and those that come with Word.
 */
function headingStyles(styles: ElementsById): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  for (const [id, style] of styles) {
    const name = valueOf(style, "w:name");
    const level = style.attributes["w:type"] === "paragraph" ? levelOf(id, styles) : undefined;
    if (name !== undefined && level !== undefined) levels.set(name, level);
  }
  return levels;
}

function levelOf(id: string, styles: ElementsById): number | undefined {
  for (const style of lineage(id, styles)) {
    const outline = valueOf(style, "w:outlineLvl");
    // The tenth level is that of body text.
    if (outline !== undefined) return Number(outline) < 9 ? Math.min(6, Number(outline) + 1) : undefined;
    const builtIn = /^heading ([1-9])$/i.exec(valueOf(style, "w:name") ?? "")?.[1];
    if (builtIn !== undefined) return Math.min(6, Number(builtIn));
  }
  return undefined;
}
