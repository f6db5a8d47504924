import { hostname } from "node:os";

/** Shows a place in a document, so that a click opens it where the terminal can do that. */
export type LinkPlace = (shown: string, uri: string, line?: number) => string;

/** Leaves places as they are: editors' terminals open `path:line` themselves, at the line. */
export const plainPlace: LinkPlace = (shown) => shown;

/**
 * Hyperlinks (https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda) where the terminal is known to show them.
 */
export async function linkedPlaces(
  stdout: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LinkPlace> {
  const { createSupportsHyperlinks } = await import("supports-hyperlinks");
  if (environment["TERM_PROGRAM"] === "vscode" || !createSupportsHyperlinks({ isTTY: stdout.isTTY === true })) {
    return plainPlace;
  }
  const showsLine = environment["TERM"] === "xterm-kitty";
  return (shown, uri, line) => {
    const address = addressOf(uri, showsLine ? line : undefined);
    return address === undefined ? shown : `\u001B]8;;${address}\u001B\\${shown}\u001B]8;;\u001B\\`;
  };
}

/** An address that a terminal can open, without control characters; `undefined` for documents that have none. */
function addressOf(uri: string, line: number | undefined): string | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { protocol, pathname, href } = new URL(uri);
  // The name of the machine keeps a terminal from opening its own file of that path when the command runs elsewhere.
  if (protocol === "file:") return `file://${hostname()}${pathname}${line === undefined ? "" : `#${line}`}`;
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}
