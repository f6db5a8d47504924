import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { openKnowledgeBase, readFolder } from "citewell";
import { createHandler } from "citewell/server";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const website = join(root, "build/website");
if (!existsSync(website)) throw new Error("There is no site yet: run `npm run docs` first");

// The pages as Markdown: their places are headings and lines, and nothing of the site's frame is quoted.
const kb = await openKnowledgeBase({ path: join(root, "build/site-store") });
await kb.ingest(readFolder(join(root, "build/site-pages")), { report: () => {} });
const ask = createHandler(kb, { basePath: "/ask", title: "citewell" });

const mediaTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

async function servePage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const name = normalize(decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
  const candidates = [join(website, name), join(website, `${name}.html`)];
  const path = candidates.find((each) => each.startsWith(website) && extname(each) !== "" && existsSync(each));
  response.statusCode = path === undefined ? 404 : 200;
  const file = path ?? join(website, "404.html");
  response.setHeader("content-type", mediaTypes[extname(file)] ?? "application/octet-stream");
  response.end(await readFile(file));
}

const server = createServer((request, response) => {
  if (/^\/ask(?:[/?]|$)/.test(request.url ?? "")) {
    void ask.node(request, response);
    return;
  }
  servePage(request, response).catch((error: unknown) => {
    response.statusCode = 500;
    response.end(String(error));
  });
});
server.listen(Number(process.argv[2] ?? 4173), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  process.stdout.write(`Pages: http://localhost:${port}/  Ask them: http://localhost:${port}/ask/\n`);
});
process.once("SIGINT", () => {
  server.close();
  server.closeAllConnections();
  void ask.close().then(() => kb.close());
});
