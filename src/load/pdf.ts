import { LoadError, asError } from "../errors.js";
import type { Anchor, Metadata } from "../types.js";
import { otherKind } from "./binary.js";
import type { FileToLoad, Loader } from "./loader.js";
import { cjkCharacterMap } from "./pdf/cjk-character-maps.js";
import { boldFonts } from "./pdf/bold-fonts.js";
import { boldHeadings } from "./pdf/bold-headings.js";
import { joinLines, vocabularyOf } from "./pdf/join-lines.js";
import { bodySizeOf, headingLevels } from "./pdf/headings.js";
import { pageLines, type PageLine, type TextRun } from "./pdf/page-lines.js";
import { paragraphsOf } from "./pdf/paragraphs.js";
import { withoutRunningLines } from "./pdf/running-lines.js";
import { plainCharacters } from "./pdf/plain-characters.js";

/**
 * The text of a PDF: lines that only ran out of room are joined to paragraphs, words cut by a hyphen are mended with the
 * document's own words as judge, running heads and feet are left out, and each page that has text has an anchor, and each
 * heading, which is told by the size of its letters, or by their weight where it stands alone above a text.
 *
 * @throws LoadError (`unreadable`) when it is damaged or opens only with a password, (`empty`) when it holds no text but
 *   perhaps pictures of some.
 */
export const loadPdf: Loader = async (file, signal) => {
  const { pages, bold, title, metadata } = await readPages(file, signal);
  const { text, anchors, blank } = pagesAsText(pages, bold);
  if (anchors.length === 0) throw new LoadError("empty", file.uri, withoutText(file.uri, pages.length));
  return {
    text,
    anchors,
    mediaType: "text/plain",
    ...(title !== undefined && { title }),
    metadata: { ...metadata, pages: pages.length },
    ...(blank > 0 && {
      warnings: [`${blank} of its ${pages.length} pages hold no text: blank, or scanned and in need of OCR`],
    }),
  };
};

function withoutText(uri: string, pages: number): string {
  return (
    `${uri} holds no text on ${pages === 1 ? "its page" : `any of its ${pages} pages`}: where that is a scan, give it a ` +
    `text layer with an OCR program such as ocrmypdf`
  );
}

/** Pages as one text, an empty line between each two; an anchor where each starts, and where each heading does. */
function pagesAsText(
  read: readonly (readonly PageLine[])[],
  bold: ReadonlySet<string>,
): { text: string; anchors: Anchor[]; blank: number } {
  const bodySize = bodySizeOf(read.flat());
  const written = withoutRunningLines(read, bodySize);
  const inBold = boldHeadings(written, bodySize, bold);
  const pages = written.map((lines) => paragraphsOf(lines, inBold));
  const known = vocabularyOf(pages.flat().flatMap(({ lines }) => lines.map((line) => line.text)));
  const levels = headingLevels(pages.flat(), bodySize, inBold);
  const anchors: Anchor[] = [];
  let text = "";
  for (const [index, paragraphs] of pages.entries()) {
    for (const [at, paragraph] of paragraphs.entries()) {
      if (text !== "") text += "\n\n";
      const heading = levels.get(paragraph);
      const anchor = { ...(at === 0 && { page: index + 1 }), ...(heading !== undefined && { heading }) };
      if (Object.keys(anchor).length > 0) anchors.push({ start: text.length, ...anchor });
      text += joinLines(
        paragraph.lines.map((line) => line.text),
        paragraph.breaks,
        known,
      );
    }
  }
  return { text, anchors, blank: pages.filter((paragraphs) => paragraphs.length === 0).length };
}

interface ReadPages {
  readonly pages: readonly (readonly PageLine[])[];
  /** Ids of the fonts whose letters stand out from the text. */
  readonly bold: ReadonlySet<string>;
  readonly title: string | undefined;
  readonly metadata: Metadata;
}

async function readPages({ bytes, uri }: FileToLoad, signal: AbortSignal): Promise<ReadPages> {
  const { getDocumentProxy } = await import("unpdf");
  try {
    // The reader takes the bytes over and leaves their owner an empty array; it refuses a Buffer.
    const pdf = await getDocumentProxy(Uint8Array.from(bytes), {
      verbosity: 0,
      useWorkerFetch: false,
      cMapPacked: false,
      // Pictures are never looked at, nor fonts put to use.
      maxImageSize: 0,
      disableFontFace: true,
      BinaryDataFactory: CharacterMaps,
    });
    try {
      const pages: PageLine[][] = [];
      for (let number = 1; number <= pdf.numPages; number++) {
        signal.throwIfAborted();
        const page = await pdf.getPage(number);
        const { items } = await page.getTextContent();
        pages.push(pageLines(items.flatMap((run) => ("str" in run ? [runOf(run)] : []))));
        page.cleanup();
      }
      const bold = await boldFonts(pdf, pages);
      const { info } = await pdf.getMetadata();
      return { pages, bold, ...described(info as Readonly<Record<string, unknown>>) };
    } finally {
      await pdf.destroy();
    }
  } catch (thrown) {
    signal.throwIfAborted();
    const cause = asError(thrown);
    const reason =
      cause.name === "PasswordException"
        ? "is encrypted and opens only with a password: save a copy that has none"
        : (otherKind(bytes, "PDF") ?? `is a damaged PDF (${cause.message}): open it in a PDF reader and save it again`);
    throw new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
  }
}

/** Tables that the reader asks for when a font is not in the file. */
class CharacterMaps {
  async fetch({ filename }: { readonly filename: string }): Promise<Uint8Array> {
    const map = cjkCharacterMap(filename);
    if (map === undefined) throw new Error(`there is no ${filename} here`);
    return new TextEncoder().encode(map);
  }
}

interface PdfTextItem {
  readonly str: string;
  readonly dir: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly hasEOL: boolean;
  readonly fontName: string;
}

function runOf({ str, dir, transform, width, hasEOL, fontName }: PdfTextItem): TextRun {
  const rightToLeft = dir === "rtl";
  return { text: plainCharacters(str), transform, width, endsLine: hasEOL, rightToLeft, font: fontName };
}

/** Titles that programs write when nobody gave one. */
const noTitle =
  /^(?:untitled|无标题|microsoft (?:word|powerpoint|excel) - .*|.*\.(?:docx?|odt|tex|dvi|indd|pptx?|rtf))$/iu;

function described(info: Readonly<Record<string, unknown>>): Pick<ReadPages, "title" | "metadata"> {
  const said = (key: string) => {
    const value = info[key];
    const text = typeof value === "string" ? plainCharacters(value).replace(/\s+/gu, " ").trim() : "";
    return text === "" ? undefined : text;
  };
  const title = said("Title");
  const metadata: Record<string, string> = {};
  for (const key of ["Author", "Subject", "Keywords"]) {
    const value = said(key);
    if (value !== undefined) metadata[key.toLowerCase()] = value;
  }
  return { title: title !== undefined && noTitle.test(title) ? undefined : title, metadata };
}
