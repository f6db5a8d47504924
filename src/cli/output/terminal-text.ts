import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { clockTime, type Place } from "../../text/blocks/places.js";

/** Folders that paths are shown relative to. */
export interface KnownFolders {
  /** Current folder. */
  readonly directory: string;
  /** The user's own folder, `~`. */
  readonly home?: string;
}

// Control characters, and characters that change the direction of text.
const unsafe = /[\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Text of a document made safe for a terminal: control characters are replaced, so that no indexed file can move the
 * cursor, set the title or hide text.
 */
export function safeForTerminal(text: string): string {
  return text.replace(unsafe, (control) => (control === "\n" || control === "\t" ? control : "\uFFFD"));
}

/** Moves to the start of the line and clears it. */
export const clearLine = "\r\u001B[2K";

type MessageStream = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;

/** A stream for messages, which passes no escape sequence but a `clearLine` at the start of a text. */
export function safeStream(out: MessageStream): MessageStream {
  return {
    // The columns are read each time: a terminal may be resized.
    get isTTY() {
      return out.isTTY;
    },
    get columns() {
      return out.columns;
    },
    write: (text: string | Uint8Array) => {
      const said = String(text);
      const start = said.startsWith(clearLine) ? clearLine : "";
      return out.write(start + safeForTerminal(said.slice(start.length)));
    },
  };
}

/** One line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const line = safeForTerminal(text).replace(/\s+/g, " ").trim();
  return line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`;
}

/** A document's address as people type it, in one line. */
export function displayUri(uri: string, folders: KnownFolders): string {
  const address = uri.startsWith("file:///") ? shortestPath(fileURLToPath(uri), folders) : uri;
  return address.replace(unsafe, "\uFFFD");
}

/** The shortest of the ways to write a path: from the current folder, from the home folder (`~/…`), or in full. */
function shortestPath(path: string, { directory, home }: KnownFolders): string {
  const withinHome = home !== undefined && path.startsWith(home + sep) ? [`~${path.slice(home.length)}`] : [];
  const ways = [relative(directory, path) || ".", ...withinHome, path];
  return ways.reduce((shortest, way) => (way.length < shortest.length ? way : shortest));
}

export function displayPlace(uri: string, place: Place, folders: KnownFolders): string {
  const page = place.page === undefined ? "" : `, page ${place.page}`;
  const line = place.line === undefined ? "" : `:${place.line}`;
  const time = place.seconds === undefined ? "" : `, at ${clockTime(place.seconds)}`;
  const picture = place.picture ? `, from a picture, described by ${place.picture.describedBy}` : "";
  return `${displayUri(uri, folders)}${line}${page}${time}${picture}`;
}

/** The reason for a document's outcome, with its address once, as people type it. */
export function displayReason(uri: string, reason: string, folders: KnownFolders): string {
  // The reason for a row of a file names the file, and the row in its own words.
  const [file, row] = uri.split("#") as [string, string?];
  const address = displayUri(file, folders);
  const known = [uri, file, ...(file.startsWith("file:///") ? [fileURLToPath(file)] : [])];
  const said = known.find((name) => reason.includes(name));
  return said === undefined
    ? `${address}${row === undefined ? "" : `#${row}`}: ${reason}`
    : reason.replaceAll(said, address);
}

/** The reason without the document that it is about, to tell whether two documents have the same. */
export function reasonAlone(uri: string, reason: string): string {
  const [file, row] = uri.split("#") as [string, string?];
  const alone = reason.replaceAll(uri, "").replaceAll(file, "");
  // The text before the colon names the row.
  return row === undefined ? alone : alone.slice(alone.indexOf(": ") + 1);
}

/** A remark in which addresses of files are written as people type them. */
export function displayRemark(message: string, folders: KnownFolders): string {
  return message.replace(/\bfile:\/\/\/\S+?(?=:?(?:\s|$))/g, (uri) => displayUri(uri, folders));
}
