import { type ChatPage, openPage } from "./page.js";

/** Answers requests for the page's files. */
export interface PageServer {
  /** The HTML. @param path of the page, as the browser has it */
  readonly html: (request: Request, path: string) => Promise<Response>;
  /** A file, by the address behind `page/`; `undefined` when there is none. */
  readonly file: (request: Request, path: string) => Promise<Response | undefined>;
}

const year = 31_536_000;
/** A thread has the policy of its own file: the one that reads PDFs runs nothing but the page's code, either. */
const threadPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'";

/** Serves the chat page, which is read from disk at the first request. */
export function pageServer(): PageServer {
  let opened: Promise<ChatPage> | undefined;
  const open = () => (opened ??= openPage());

  const send = async (request: Request, path: string, headers: Record<string, string>) => {
    const { file } = await open();
    const found = await file(path, request.headers.get("accept-encoding") ?? "");
    if (!found) return undefined;
    const { body, encoding, type } = found;
    return new Response(body, {
      headers: {
        ...headers,
        "content-type": type,
        vary: "accept-encoding",
        ...(encoding && { "content-encoding": encoding }),
      },
    });
  };

  return {
    html: async (request, path) => {
      // The addresses in the HTML are relative to a folder.
      if (!path.endsWith("/")) {
        const { search } = new URL(request.url);
        return new Response(undefined, { status: 308, headers: { location: `${path}/${search}` } });
      }
      const { policy, version } = await open();
      const etag = `"${version}"`;
      const headers = {
        "content-security-policy": policy,
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cache-control": "no-cache",
        etag,
      };
      if (request.headers.get("if-none-match")?.includes(etag))
        return new Response(undefined, { status: 304, headers });
      return (await send(request, "", headers))!;
    },
    file: (request, path) =>
      path === ""
        ? Promise.resolve(undefined)
        : send(request, path, {
            "cache-control": `public, max-age=${year}, immutable`,
            "content-security-policy": threadPolicy,
          }),
  };
}
