import { type ChatPage, openPage } from "./page.js";

/** Answers requests for the page's files. */
export interface PageServer {
  /** The HTML, for the path that the page is mounted at. */
  readonly html: (request: Request) => Promise<Response>;
  /** A file, by the address behind `page/`; `undefined` when there is none. */
  readonly file: (request: Request, path: string) => Promise<Response | undefined>;
}

const year = 31_536_000;

/** Serves the chat page, which is read with the first request for it. */
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
    html: async (request) => {
      const url = new URL(request.url);
      // The addresses in the HTML are relative to a folder.
      if (!url.pathname.endsWith("/")) {
        return new Response(undefined, { status: 308, headers: { location: `${url.pathname}/${url.search}` } });
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
        : send(request, path, { "cache-control": `public, max-age=${year}, immutable` }),
  };
}
