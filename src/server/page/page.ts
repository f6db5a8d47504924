import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { CitewellError } from "../../core/errors.js";

/** A file of the page, ready to be sent. */
export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** Value of `content-encoding`, when the body is compressed. */
  readonly encoding?: "br" | "gzip";
}

/** The chat page. All its addresses are relative, so it works below any path that ends with a slash. */
export interface ChatPage {
  /** Hash that changes with any file. Files below `page/` have it in their addresses and may be cached for good. */
  readonly version: string;
  /** Value of `content-security-policy` for the HTML. */
  readonly policy: string;
  /**
   * The HTML, or with a path a file below `page/`; `undefined` when there is none.
   *
   * @param path address behind `page/`, as the HTML names it; empty for the HTML itself.
   * @param acceptEncoding the request's header, by which the best compression is chosen. Default: none.
   */
  readonly file: (path: string, acceptEncoding?: string) => Promise<PageFile | undefined>;
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

type Bytes = Uint8Array<ArrayBuffer>;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** @throws CitewellError of code `page` when the page was not built. */
export async function openPage(): Promise<ChatPage> {
  const files = await builtFiles();
  const hash = createHash("sha256").update(policy);
  for (const [path, body] of files) hash.update(`${path}\0${body.length}\0`).update(body);
  const version = hash.digest("hex").slice(0, 16);
  const served = new Map(files.map(([path, body]) => [`${version}/${path}`, body]));
  const maps = await characterMaps();
  const main = Buffer.from(files.find(([path]) => path === "main.js")![1]).toString();
  // The browser asks for the parts that the script begins with along with it, and not when it has come.
  const imported = [...main.matchAll(/\bfrom\s*"\.\/([\w-]+\.js)"/g)].map(([, name]) => name!);
  served.set("", Buffer.from(htmlOf(version, [...new Set(imported)])));
  const compressed = new Map<string, Promise<PageFile>>();
  return {
    version,
    policy,
    file: async (path, acceptEncoding = "") => {
      const body = served.get(path);
      if (!body) {
        const map = path.startsWith(`${version}/`) ? maps.get(path.slice(version.length + 1)) : undefined;
        // They are rarely wanted, and packed already.
        return map && { body: await readFile(map), type: "application/octet-stream" };
      }
      const type = types[extname(path)] ?? "text/html; charset=utf-8";
      const encoding = (["br", "gzip"] as const).find((coding) => accepts(acceptEncoding, coding));
      if (!encoding) return { body, type };
      const key = `${encoding} ${path}`;
      const known = compressed.get(key);
      if (known) return known;
      const made = compress(body, encoding).then((packed) => ({ body: packed, type, encoding }));
      compressed.set(key, made);
      return made;
    },
  };
}

/** Reads the script, its parts, the style sheet and the icon, as they were bundled. */
async function builtFiles(): Promise<[string, Bytes][]> {
  const folder = new URL("assets/", import.meta.url);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  if (!names.includes("main.js")) {
    throw new CitewellError(
      "page",
      `The chat page is not built: ${fileURLToPath(folder)} has no main.js. Run npm run build`,
    );
  }
  return Promise.all(
    names.toSorted().map(async (name): Promise<[string, Bytes]> => [name, await readFile(new URL(name, folder))]),
  );
}

/** Character maps of PDF.js by their paths, of which the command has no copy of its own. */
async function characterMaps(): Promise<ReadonlyMap<string, URL>> {
  for (const place of ["assets/cmaps/", "../server/page/assets/cmaps/"]) {
    const folder = new URL(place, import.meta.url);
    const names = await readdir(folder).catch((): string[] => []);
    const maps = names.filter((name) => name.endsWith(".bcmap"));
    if (maps.length > 0) return new Map(maps.map((name) => [`cmaps/${name}`, new URL(name, folder)]));
  }
  return new Map();
}

function htmlOf(version: string, imported: readonly string[]): string {
  const folder = `page/${version}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Citewell</title>
<link rel="icon" href="${folder}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${folder}/style.css">
${imported.map((name) => `<link rel="modulepreload" href="${folder}/${name}">\n`).join("")}<script type="module" src="${folder}/main.js"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. The HTTP API beside it, described at api/openapi.json, does not.</noscript>
</body>
</html>
`;
}

/** The page runs its own scripts alone, and turns text into HTML only through its sanitiser. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types dompurify citewell-worker",
].join("; ");

function accepts(header: string, encoding: string): boolean {
  return header.split(",").some((part) => {
    const [name, quality] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/);
    return name === encoding && (quality === undefined || Number(quality) > 0);
  });
}

/** Larger files are compressed faster and less well, in bytes. */
const maxThorough = 300_000;

function compress(body: Bytes, encoding: "br" | "gzip"): Promise<Bytes> {
  if (encoding === "gzip") return zip(body, { level: 9 });
  // The last percent of a megabyte would take two seconds, and its reader waits for it.
  const quality = body.length > maxThorough ? 5 : constants.BROTLI_MAX_QUALITY;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: quality };
  return brotli(body, { params });
}
