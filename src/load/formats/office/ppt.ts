import { LoadError, asError } from "../../../core/errors.js";
import { wrongKindReason } from "../binary.js";
import type { FileToLoad, Loader } from "../loader.js";
import { hasCircularChain, isCompoundFile } from "./compound-file.js";
import { pagesOf } from "./slides.js";
import { spreadsheetPackage } from "./spreadsheet-package.js";

/**
 * Reads the slides of a PowerPoint file from before 2007 as Markdown: titles are headings, and speaker's notes follow their
 * slide. Each slide has an anchor, as a page. Tables are a line for each cell.
 *
 * @throws LoadError (`unreadable`) when it is damaged or encrypted, (`unsupported`) without the package that opens it.
 */
export const loadPpt: Loader = async (file) => {
  const { bytes, uri } = file;
  if (!isCompoundFile(bytes)) {
    throw new LoadError("unreadable", uri, `${uri} ${wrongKindReason(bytes, "Office 97") ?? "is no PowerPoint file"}`);
  }
  try {
    if (hasCircularChain(bytes)) throw new Error("its chains of sectors run in circles");
    const { document, currentUser } = await streamsOf(file);
    return pagesOf(slidesOf(document, currentUser));
  } catch (cause) {
    if (cause instanceof LoadError) throw cause;
    const reason = `is damaged or encrypted (${asError(cause).message}): open it in a program for slides and save it as .pptx`;
    throw new LoadError("unreadable", uri, `${uri} ${reason}`, { cause });
  }
};

interface Streams {
  readonly document: Buffer;
  readonly currentUser: Buffer;
}

interface Container {
  readonly FullPaths: readonly string[];
  readonly FileIndex: readonly { readonly content?: Uint8Array }[];
}

async function streamsOf(file: FileToLoad): Promise<Streams> {
  const { CFB } = await spreadsheetPackage(file);
  const { FullPaths: paths, FileIndex: entries } = (CFB as { read(bytes: Uint8Array, how: object): Container }).read(
    file.bytes,
    { type: "buffer" },
  );
  const stream = (name: string) => {
    const content = entries[paths.findIndex((path) => path.endsWith(`/${name}`))]?.content;
    if (!content) throw new Error(`it has no stream ${name}`);
    return Buffer.from(content);
  };
  return { document: stream("PowerPoint Document"), currentUser: stream("Current User") };
}

/** Numbers of records, of MS-PPT 2.13.24. */
const records = {
  documentSlides: 0x0ff0,
  slideReference: 0x03f3,
  slide: 0x03ee,
  slideAtom: 0x03ef,
  textHeader: 0x0f9f,
  textCharacters: 0x0fa0,
  textBytes: 0x0fa8,
  outlineReference: 0x0f9e,
  textbox: 0xf00d,
  userEdit: 0x0ff5,
  persistDirectory: 0x1772,
} as const;

interface Record {
  readonly type: number;
  readonly instance: number;
  readonly isContainer: boolean;
  readonly start: number;
  readonly end: number;
}

/** Lists of slides by their instance. */
const [slideList, notesList] = [0, 2];
/** Kinds of text that are titles, of MS-PPT 2.13.33. */
const titleKinds: ReadonlySet<number> = new Set([0, 6]);
const maxDepth = 64;

interface Text {
  readonly kind: number;
  readonly text: string;
}

function slidesOf(document: Buffer, currentUser: Buffer): string[] {
  const offsets = livingObjects(document, currentUser.readUInt32LE(16));
  const main = recordAt(document, offsets.get(offsets.document) ?? -1);
  const listOf = (list: number) =>
    [...inside(document, main)].filter(({ type, instance }) => type === records.documentSlides && instance === list);
  const referred = (list: number) => listOf(list).flatMap((reference) => referencesIn(document, reference));
  const textsOf = (object: number, outline: readonly Text[]) => {
    const index = offsets.get(object);
    const drawn = index === undefined ? [] : textboxes(document, recordAt(document, index), outline);
    return drawn.length > 0 ? drawn : outline;
  };
  const notes = new Map(referred(notesList).map(({ id, object, outline }) => [id, textsOf(object, outline)]));
  return referred(slideList).map(({ object, outline }) => {
    const position = offsets.get(object);
    const atom =
      position === undefined
        ? undefined
        : [...inside(document, recordAt(document, position))].find(({ type }) => type === records.slideAtom);
    const notesOfIt = (atom && notes.get(document.readUInt32LE(atom.start + 16))) ?? [];
    const spoken = notesOfIt.filter(({ kind, text }) => kind === notesKind && text !== "*");
    return [...textsOf(object, outline), ...spoken]
      .flatMap(({ kind, text }) =>
        text === "" ? [] : [titleKinds.has(kind) ? `# ${text.replaceAll("\n", " ")}` : text],
      )
      .join("\n\n");
  });
}

const notesKind = 2;

/** Offsets of objects by their number: of each the latest, as every saving adds to the file. */
function livingObjects(document: Buffer, latestEdit: number): Map<number, number> & { document: number } {
  const offsets = Object.assign(new Map<number, number>(), { document: 0 });
  const seen = new Set<number>();
  for (let edit = latestEdit; edit > 0 && !seen.has(edit); edit = document.readUInt32LE(edit + 16)) {
    seen.add(edit);
    offsets.document ||= document.readUInt32LE(edit + 24);
    const directory = recordAt(document, document.readUInt32LE(edit + 20));
    for (let position = directory.start; position + 4 <= directory.end;) {
      const run = document.readUInt32LE(position);
      const [first, count] = [run & 0xf_ffff, run >>> 20];
      position += 4;
      for (let index = 0; index < count && position + 4 <= directory.end; index++, position += 4) {
        if (!offsets.has(first + index)) offsets.set(first + index, document.readUInt32LE(position));
      }
    }
  }
  return offsets;
}

/** The slides of a list, with the texts of their outline. */
function referencesIn(document: Buffer, list: Record) {
  const found: { readonly id: number; readonly object: number; readonly outline: Text[] }[] = [];
  let kind = 0;
  for (const record of inside(document, list)) {
    const { type, start } = record;
    if (type === records.slideReference) {
      found.push({ id: document.readUInt32LE(start + 12), object: document.readUInt32LE(start), outline: [] });
    } else if (type === records.textHeader) kind = document.readUInt32LE(start);
    else if (isWritten(record)) found.at(-1)?.outline.push({ kind, text: textOf(document, record) });
  }
  return found;
}

function textboxes(document: Buffer, parent: Record, outline: readonly Text[], depth = 0): Text[] {
  const texts: Text[] = [];
  let kind: number | undefined;
  for (const record of inside(document, parent)) {
    const { type, start, isContainer } = record;
    if (parent.type === records.textbox && type === records.textHeader) kind = document.readUInt32LE(start);
    else if (parent.type === records.textbox && type === records.outlineReference) {
      const referred = outline[document.readUInt32LE(start)];
      if (referred) texts.push(referred);
    } else if (parent.type === records.textbox && isWritten(record)) {
      texts.push({ kind: kind ?? 4, text: textOf(document, record) });
    } else if (isContainer && depth < maxDepth) texts.push(...textboxes(document, record, outline, depth + 1));
  }
  return texts;
}

function isWritten({ type }: Record): boolean {
  return type === records.textCharacters || type === records.textBytes;
}

function textOf(document: Buffer, { type, start, end }: Record): string {
  const text = document.toString(type === records.textBytes ? "latin1" : "utf16le", start, end);
  return text
    .replace(/[\r\v]/g, "\n")
    .replace(/[ \t]*\n\s*/g, "\n")
    .trim();
}

function recordAt(document: Buffer, offset: number): Record {
  const head = document.readUInt16LE(offset);
  const start = offset + 8;
  const end = Math.min(document.length, start + document.readUInt32LE(offset + 4));
  return { type: document.readUInt16LE(offset + 2), instance: head >> 4, isContainer: (head & 15) === 15, start, end };
}

function* inside(document: Buffer, { start, end }: Record): Generator<Record> {
  for (let index = start; index + 8 <= end;) {
    const record = recordAt(document, index);
    yield record;
    index = record.end;
  }
}
