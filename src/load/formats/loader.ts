import type { LoadError } from "../../core/errors.js";
import type { Document, Metadata } from "../../core/types.js";
import type { RowMapping } from "./row-mapping.js";

/** A file's bytes, before a loader makes a document of them. */
export interface FileToLoad {
  /** Path of a file on disk; for bytes from elsewhere, the name that the file would be saved under. */
  readonly path: string;
  /** Address that errors name. */
  readonly uri: string;
  /** The whole file. */
  readonly bytes: Uint8Array;
  /** Encoding that the sender named, if any. */
  readonly charset?: string;
  /** Whether the pictures of the file are to be in `LoadedText.pictures`. Default: false. */
  readonly wantsPictures?: boolean;
}

/** A file's text and what the file says about itself; the caller adds what follows from where the file lies. */
export interface LoadedText extends Pick<Document, "text" | "title" | "metadata" | "mediaType" | "anchors"> {
  /** Parts that could not be read as they were meant, although the text could. */
  readonly warnings?: readonly string[];
  /** Text of the file that is not in `text` on purpose, by kind. */
  readonly leftOut?: readonly LeftOut[];
  /** Inner files, such as the attachments of a mail, each a document of its own. */
  readonly inner?: readonly InnerFile[];
  /** Numbers of its pages, from 1, that hold no text of their own: blank, or pictures of a text. */
  readonly pagesWithoutText?: readonly number[];
  /** Its pictures in order, where the file was given with `wantsPictures`. */
  readonly pictures?: readonly FoundPicture[];
  /** Whether a later run may read more of it, without any change of the file. */
  readonly isPartial?: boolean;
  /** The text with the mails that it repeats, all that is in `leftOut`, for a source that does not hold these. */
  readonly withEarlierMails?: EarlierMails;
  /** Its tables, each row of which is a document of its own; the text is empty. */
  readonly rows?: readonly LoadedTable[];
}

/** A picture in a file, with its place in the text. */
export interface FoundPicture {
  /** Offset into the text that it stands at. */
  readonly offset: number;
  /** The whole file of the picture. Default: it is the file at `path`. */
  readonly bytes?: Uint8Array;
  /** Path of the picture's file, relative to that of the document. */
  readonly path?: string;
  /** Its address on the web, where it is not fetched from. */
  readonly elsewhere?: string;
  /** Why it cannot be read, as the rest of a sentence about it. */
  readonly problem?: string;
  /** Alternative text or caption. */
  readonly caption?: string;
  /** Page that shows it. Default: that of its offset. */
  readonly page?: number;
}

/** A mail as it is, with those that it answers. */
export interface EarlierMails {
  /** Its own words and theirs. */
  readonly text: string;
  /** Message ids, bare, of the mails that it answers. Empty if it does not say. */
  readonly answersTo: readonly string[];
}

/** Text of one kind that was left out of a document, such as the captions of an article. */
export interface LeftOut {
  /** Its kind, in the plural: `captions`. */
  readonly what: string;
  /** Number of places that it was left out at. */
  readonly count: number;
  /** Beginning of the first, up to 120 characters. */
  readonly example: string;
}

/** The rows of one table of a file. */
export interface LoadedTable {
  /** Name of the table if the file has several. It is part of a row's address. */
  readonly name?: string;
  /** The rows as JSON lines. */
  readonly lines: Uint8Array;
}

/** A file that lies in another: in an archive, a mailbox or a mail. */
export interface InnerFile {
  /** Name within the outer file, which stands in the address behind a `#`. */
  readonly name: string;
  /** Name whose ending tells the format. Default: `name`. */
  readonly path?: string;
  /** The whole file, unpacked. */
  readonly bytes: Uint8Array;
  /** Metadata from the outer file, such as the modification time. */
  readonly metadata?: Metadata;
}

/**
 * Turns the bytes of one kind of file into text. `signal` is aborted when the run is, and when the file's time is up, which
 * starts anew whenever `onProgress` is called: call it after each page or the like.
 *
 * @throws LoadError (`binary`) for bytes that are not text, (`unreadable`) for a file that is damaged, (`empty`) for one
 *   that holds no text though it should.
 */
export type Loader = (
  file: FileToLoad,
  signal: AbortSignal,
  onProgress?: () => void,
) => LoadedText | Promise<LoadedText>;

/** The result of reading a file, or one row of it. */
export type FileOutcome =
  | { readonly document: Document; readonly warnings: readonly string[]; readonly leftOut?: readonly LeftOut[] }
  /** `isRecalled`: the error is that of an earlier run, and the file has not changed. */
  | { readonly error: LoadError; readonly isRecalled?: boolean }
  /** An inner file that no loader knows, or that holds no useful text. */
  | { readonly skipped: string; readonly uri: string };

/** A file of rows before it is read. It is read in pieces, so that its size does not matter. */
export interface RowFile {
  readonly uri: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** An archive before anything of it is unpacked. */
export interface ListedArchive {
  readonly uri: string;
  /** Bytes of the archive itself. */
  readonly packedBytes: number;
  /** Total size of its listed files in bytes, without those that are passed over. */
  readonly unpackedBytes: number;
  /** Files that it lists. */
  readonly files: number;
}

export interface RowOptions {
  readonly mapping: RowMapping;
  /** Id that the documents carry as `source`. */
  readonly source: string;
  readonly maxRowBytes: number;
  /**
   * Whether an archive may be unpacked, asked before the first of its files is read.
   *
   * @throws LoadError (`too-large`) with the numbers and the option that allows more.
   */
  readonly admit: (archive: ListedArchive) => void;
  /** Reads a file that lies in this one, in whatever format it is. */
  readonly readInner: (file: InnerFile) => AsyncIterable<FileOutcome>;
}

/**
 * Yields one document for each row of a file, in order. A bad row is an error under an address of its own and costs no
 * other; where the rows after it cannot be told apart, the error is the file's and the last outcome.
 */
export type RowReader = (file: RowFile, options: RowOptions) => AsyncIterable<FileOutcome>;
