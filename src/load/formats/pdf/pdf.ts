import { LoadError, asError } from "../../../core/errors.js";
import type { Anchor, Metadata } from "../../../core/types.js";
import { wrongKindReason } from "../binary.js";
import type { FileToLoad, Loader } from "../loader.js";
import { annotationTypes, withWritten, writtenIn, type Written } from "./annotations.js";
import { boldFonts } from "./bold-fonts.js";
import { cjkCharacterMap } from "./cjk-character-maps.js";
import { bodySizeOf, boldHeadings, headingLevels } from "./headings.js";
import { pageLines, type PageLine } from "./page-lines.js";
import { joinLines, paragraphsOf, vocabularyOf, type Paragraph } from "./paragraphs.js";
import { plainCharacters } from "./plain-characters.js";
import { withoutRunningLines } from "./running-lines.js";
import { boundedPdf } from "./stream-sizes.js";
import type { TextRun } from "./text-runs.js";
import { drawsGlyphs, GlyphCount, ranges } from "./unreadable-pages.js";

/**
 * Reads the text of a PDF. Lines that only ran out of room are joined to paragraphs, words cut by a hyphen are mended where
 * the document's own words say so, and running heads and feet are left out. Filled fields of forms are lines of
 * `Name: value`. Each page with text has an anchor, and so has each heading, recognised by the size of its letters, or by
 * their weight where it stands alone above a text.
 *
 * @throws LoadError (`unreadable`) when it is damaged or opens only with a password, (`too-large`) when it unpacks
 *   too far, (`empty`) when it holds no text, as a scan or an empty form does.
 */
export const loadPdf: Loader = async (file, signal, onProgress = () => {}) => {
  const {
    pages,
    emptyFields,
    pagesWithoutText,
    unreadable,
    warnings = [],
    ...loaded
  } = await readPdf(file, signal, onProgress);
  if (loaded.anchors.length === 0) {
    const hint =
      unreadable.length > 0
        ? `the fonts of page ${ranges(unreadable)} do not say which characters their glyphs are; read it with a recognizer (--ocr)`
        : emptyFields > 0
          ? `its form has ${emptyFields} fields, and nobody has filled them`
          : "where that is a scan, give it a text layer with an OCR program such as ocrmypdf, or read it with a recognizer (--ocr)";
    const where = pages === 1 ? "its page" : `any of its ${pages} pages`;
    const details = emptyFields > 0 ? {} : { option: "recognizer" };
    throw new LoadError("empty", file.uri, `${file.uri} holds no text on ${where}: ${hint}`, details);
  }
  const bare = pagesWithoutText.filter((page) => !unreadable.includes(page));
  const all = [
    ...(unreadable.length > 0
      ? [
          `${unreadable.length} of its ${pages} pages can be read in part or not at all, since their fonts do not say which ` +
            `characters the glyphs are: page ${ranges(unreadable)}. Read it with a recognizer (--ocr)`,
        ]
      : []),
    ...(bare.length > 0
      ? [
          `${bare.length} of its ${pages} pages hold no text of their own: blank, or scanned and in need of OCR (page ${ranges(bare)})`,
        ]
      : []),
    ...warnings,
  ];
  return { ...loaded, ...(all.length > 0 && { warnings: all }) };
};

/** Like `loadPdf`, for a PDF whose pages without text are recognised next: having no text at all is no failure yet. */
export const loadPdfWithScans: Loader = async (file, signal, onProgress = () => {}) => {
  const { pages: _, emptyFields: __, unreadable: ___, ...loaded } = await readPdf(file, signal, onProgress);
  return loaded;
};

async function readPdf(file: FileToLoad, signal: AbortSignal, onProgress: () => void) {
  const { pages, bold, title, metadata, written, unreadable } = await readPages(file, signal, onProgress);
  const { text, anchors, bare } = pagesAsText(pages, bold, onProgress);
  const signers = written.signatures.join(", ");
  const warnings =
    written.signatures.length === 0 ? [] : [`its signatures are not read (${signers}): a PDF reader shows who signed`];
  return {
    text,
    anchors,
    mediaType: "text/plain",
    ...(title !== undefined && { title }),
    metadata: { ...metadata, pages: pages.length },
    pages: pages.length,
    emptyFields: written.emptyFields,
    pagesWithoutText: [...new Set([...bare, ...unreadable])].toSorted((one, other) => one - other),
    unreadable,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Joins the pages to one text, an empty line between two, with an anchor at the start of each page and heading. */
function pagesAsText(
  read: readonly (readonly PageLine[])[],
  bold: ReadonlySet<string>,
  onProgress: () => void,
): { text: string; anchors: Anchor[]; bare: readonly number[] } {
  const bodySize = bodySizeOf(read.flat());
  const { left, bare } = withoutRunningLines(read, bodySize);
  const inBold = boldHeadings(left, bodySize, bold);
  const pages = left.map((lines) => {
    onProgress();
    return paragraphsOf(lines, inBold);
  });
  const textsOf = ({ lines }: Paragraph) => lines.map(({ text }) => text);
  const known = vocabularyOf(pages.flat().flatMap(textsOf));
  const levels = headingLevels(pages.flat(), bodySize, inBold);
  const anchors: Anchor[] = [];
  let text = "";
  for (const [index, paragraphs] of pages.entries()) {
    onProgress();
    for (const [paragraphIndex, paragraph] of paragraphs.entries()) {
      if (text !== "") text += "\n\n";
      const heading = levels.get(paragraph);
      const anchor = { ...(paragraphIndex === 0 && { page: index + 1 }), ...(heading !== undefined && { heading }) };
      if (Object.keys(anchor).length > 0) anchors.push({ start: text.length, ...anchor });
      text += joinLines(textsOf(paragraph), paragraph.breaks, known);
    }
  }
  return { text, anchors, bare };
}

interface ReadPages {
  readonly pages: readonly (readonly PageLine[])[];
  /** Ids of the bold fonts, if the text itself is not bold. */
  readonly bold: ReadonlySet<string>;
  readonly written: Written;
  /** Numbers of the pages on which too many glyphs have no character. */
  readonly unreadable: readonly number[];
  readonly title: string | undefined;
  readonly metadata: Metadata;
}

async function readPages(file: FileToLoad, signal: AbortSignal, onProgress: () => void): Promise<ReadPages> {
  return withPdf(file, signal, 0, async (pdf, operators) => {
    const unreadable: number[] = [];
    const pages: PageLine[][] = [];
    for (let number = 1; number <= pdf.numPages; number++) {
      signal.throwIfAborted();
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const glyphs = new GlyphCount();
      const runs = items.flatMap((item): TextRun[] => {
        if (!("str" in item)) return [];
        const { str, dir, transform, width, hasEOL: endsLine, fontName: font } = item;
        glyphs.add(str);
        return [{ text: plainCharacters(str), transform, width, endsLine, rightToLeft: dir === "rtl", font }];
      });
      pages.push(pageLines(runs));
      const isUnreadable =
        glyphs.isUnreadable || (glyphs.isEmpty && drawsGlyphs(await page.getOperatorList(), operators));
      if (isUnreadable) unreadable.push(number);
      page.cleanup();
      onProgress();
    }
    const getPage = (number: number) => {
      onProgress();
      return pdf.getPage(number);
    };
    const bold = await boldFonts({ getPage }, pages);
    // Asked for by its kinds, the reader takes a hundredth of the time that it takes for all annotations of a page.
    const written = writtenIn(await pdf.getAnnotationsByType(annotationTypes, new Set()));
    const { info } = await pdf.getMetadata();
    return {
      pages: pages.map((lines, page) => withWritten(lines, written.lines.get(page) ?? [])),
      bold,
      written,
      unreadable,
      ...described(info as Readonly<Record<string, unknown>>),
    };
  });
}

/**
 * Opens a PDF for as long as `work` takes.
 *
 * @param maxPicturePixels larger pictures are not decoded; 0 for none.
 * @throws LoadError as `loadPdf` does.
 */
export async function withPdf<Result>(
  { bytes, uri }: FileToLoad,
  signal: AbortSignal,
  maxPicturePixels: number,
  work: (
    pdf: Awaited<ReturnType<typeof import("unpdf").getDocumentProxy>>,
    operators: Awaited<ReturnType<typeof import("unpdf").getResolvedPDFJS>>["OPS"],
  ) => Promise<Result>,
): Promise<Result> {
  const bounded = boundedPdf(bytes);
  if ("reason" in bounded) throw new LoadError("too-large", uri, `${uri} ${bounded.reason}`);
  provideTransfer();
  const { getDocumentProxy, getResolvedPDFJS } = await import("unpdf");
  try {
    // The reader transfers the bytes, which leaves their owner an empty array, and it refuses a Buffer.
    const pdf = await getDocumentProxy(bounded.bytes, {
      verbosity: 0,
      useWorkerFetch: false,
      cMapPacked: false,
      maxImageSize: maxPicturePixels,
      isOffscreenCanvasSupported: false,
      // Fonts are never used.
      disableFontFace: true,
      BinaryDataFactory: CharacterMaps,
    });
    try {
      return await work(pdf, (await getResolvedPDFJS()).OPS);
    } finally {
      await pdf.destroy();
    }
  } catch (thrown) {
    signal.throwIfAborted();
    const cause = asError(thrown);
    throw new LoadError("unreadable", uri, `${uri} ${reasonOf(cause, bytes)}`, { cause });
  }
}

function reasonOf({ name, message }: Error, bytes: Uint8Array): string {
  if (name === "PasswordException") {
    return "is encrypted and opens only with a password, as the empty one was refused: save a copy that has none";
  }
  // Encryption by certificates instead of passwords, for example.
  if (/unknown encryption method|unsupported encryption algorithm|unknown crypto method/i.test(message)) {
    return `is encrypted in a way that is not known here (${message}): save a copy that is not encrypted`;
  }
  const hint = "open it in a PDF reader and save it again";
  return wrongKindReason(bytes, "PDF") ?? `is a damaged PDF (${message}): ${hint}`;
}

/**
 * Gives this thread the method of `ArrayBuffer` by which the PDF reader hands on fonts, where the platform lacks it:
 * Node.js has it since 21. https://tc39.es/ecma262/#sec-arraybuffer.prototype.transfertofixedlength
 */
export function provideTransfer(): void {
  const { prototype } = ArrayBuffer;
  if ("transferToFixedLength" in prototype) return;
  const value = function (this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
    const moved = structuredClone(this, { transfer: [this] });
    const resized = new Uint8Array(length);
    resized.set(new Uint8Array(moved, 0, Math.min(length, moved.byteLength)));
    return resized.buffer;
  };
  Object.defineProperty(prototype, "transferToFixedLength", { value, writable: true, configurable: true });
}

/** Tables that the reader requests when a font is not in the file. */
class CharacterMaps {
  async fetch({ filename }: { readonly filename: string }): Promise<Uint8Array> {
    const map = cjkCharacterMap(filename);
    if (map === undefined) throw new Error(`there is no ${filename} here`);
    return new TextEncoder().encode(map);
  }
}

/** Titles that programs write when the author gave none. */
const defaultTitle =
  /^(?:untitled|无标题|microsoft (?:word|powerpoint|excel) - .*|.*\.(?:docx?|odt|tex|dvi|indd|pptx?|rtf))$/iu;

function described(info: Readonly<Record<string, unknown>>): Pick<ReadPages, "title" | "metadata"> {
  const valueOf = (key: string) => {
    const value = info[key];
    return typeof value === "string" ? plainCharacters(value).replace(/\s+/gu, " ").trim() : "";
  };
  const title = valueOf("Title");
  const metadata = ["Author", "Subject", "Keywords"]
    .map((key) => [key.toLowerCase(), valueOf(key)] as const)
    .filter(([, value]) => value !== "");
  return {
    title: title === "" || defaultTitle.test(title) ? undefined : title,
    metadata: Object.fromEntries(metadata),
  };
}
