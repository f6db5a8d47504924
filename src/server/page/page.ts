import { createHash } from "node:crypto";
import { createRequire } from "node:module";
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

/** Import names of the modules that the browser takes from other packages. */
const modules = [
  "preact",
  "preact/hooks",
  "preact/jsx-runtime",
  "@preact/signals",
  "@preact/signals-core",
  "marked",
  "dompurify",
  "eventsource-parser",
];

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

type Bytes = Uint8Array<ArrayBuffer>;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** @throws CitewellError of code `page` when the page was not built. */
export async function openPage(): Promise<ChatPage> {
  const files = new Map([...(await ownFiles()), ...(await moduleFiles())]);
  const hash = createHash("sha256");
  for (const [path, body] of files) hash.update(`${path}\0${body.length}\0`).update(body);
  const version = hash.digest("hex").slice(0, 16);
  const importMap = JSON.stringify({
    imports: Object.fromEntries(modules.map((name) => [name, `./page/${version}/${modulePath(name)}`])),
  });
  const served = new Map([...files].map(([path, body]) => [`${version}/${path}`, body]));
  served.set("", Buffer.from(htmlOf(version, [...files.keys()], importMap)));
  const compressed = new Map<string, Promise<PageFile>>();
  return {
    version,
    policy: policyFor(importMap),
    file: async (path, acceptEncoding = "") => {
      const body = served.get(path);
      if (!body) return undefined;
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

/** Reads the files that this package has compiled for the browser, and its style sheets. */
async function ownFiles(): Promise<[string, Bytes][]> {
  const folder = new URL("browser/", import.meta.url);
  const listed = await readdir(folder, { recursive: true }).catch(() => []);
  const names = listed.map((name) => name.replaceAll("\\", "/")).filter((name) => extname(name) in types);
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

async function moduleFiles(): Promise<[string, Bytes][]> {
  const fromSignals = createRequire(import.meta.resolve("@preact/signals"));
  return Promise.all(
    modules.map(async (name): Promise<[string, Bytes]> => {
      // Only signals depends on its core, and require finds the CommonJS file, which has the module beside it.
      const path =
        name === "@preact/signals-core"
          ? fromSignals.resolve(name).replace(/\.js$/, ".mjs")
          : fileURLToPath(import.meta.resolve(name));
      return [modulePath(name), await readFile(path)];
    }),
  );
}

function modulePath(name: string): string {
  return `modules/${name.replace("@", "")}.js`;
}

function htmlOf(version: string, paths: readonly string[], importMap: string): string {
  const addressOf = (path: string) => `page/${version}/${path}`;
  const scripts = paths.filter((path) => path.endsWith(".js"));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Citewell</title>
<link rel="icon" href="${addressOf("static/icon.svg")}" type="image/svg+xml">
${paths
  .filter((path) => path.endsWith(".css"))
  .map((path) => `<link rel="stylesheet" href="${addressOf(path)}">`)
  .join("\n")}
<script type="importmap">${importMap}</script>
${scripts.map((path) => `<link rel="modulepreload" href="${addressOf(path)}">`).join("\n")}
<script type="module" src="${addressOf("main.js")}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. The HTTP API beside it, described at api/openapi.json, does not.</noscript>
</body>
</html>
`;
}

/** The page runs its own scripts alone, and turns text into HTML only through its sanitiser. */
function policyFor(importMap: string): string {
  const hash = createHash("sha256").update(importMap).digest("base64");
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types dompurify",
  ].join("; ");
}

function accepts(header: string, encoding: string): boolean {
  return header.split(",").some((part) => {
    const [name, quality] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/);
    return name === encoding && (quality === undefined || Number(quality) > 0);
  });
}

function compress(body: Bytes, encoding: "br" | "gzip"): Promise<Bytes> {
  if (encoding === "gzip") return zip(body, { level: 9 });
  return brotli(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } });
}
