import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vitepress";
import { benchmarkPages } from "./benchmark-pages.js";
import { commandPages } from "./command-pages.js";
import { contents } from "./contents.js";
import { outsideCode, type Page, summaryOf, titleOf } from "./page.js";
import { repositoryPages } from "./repository-pages.js";
import { siteConfig } from "./site-config.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const sources = join(root, "build/site-pages");
const output = join(root, "build/website");

/** A citation's mark. Without an icon, browsers ask the host for one that is not there. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0a6cb0"/><text x="16" y="22" font-family="sans-serif" font-size="16" font-weight="bold" text-anchor="middle" fill="#fff">[1]</text></svg>
`;

const repository = repositoryPages(root);
const isBenchmarks = ({ path }: Page) => path === "reference/benchmarks";
const benchmarks = benchmarkPages(root, repository.pages.find(isBenchmarks)!);
const others = repository.pages.filter((page) => !isBenchmarks(page));
const pages = [...others, ...benchmarks.pages, ...commandPages(root), ...apiPages()];
const named = new Set(contents.flatMap((part) => part.pages));
const missing = [...named].filter((path) => !pages.some((page) => page.path === path));
if (missing.length > 0) throw new Error(`The order of the site names pages that do not exist: ${missing.join(", ")}`);

rmSync(sources, { recursive: true, force: true });
for (const page of pages) write(`${page.path}.md`, withoutMarkup(page.text));
write("index.md", home());
write(".vitepress/config.mjs", `export default ${JSON.stringify(siteConfig(pages, output))};\n`);
write("public/llms.txt", llmsText());
write("public/icon.svg", icon);
mkdirSync(join(sources, "public/pictures"));
for (const [address, path] of repository.pictures) cpSync(join(root, path), join(sources, "public", address));
for (const [address, svg] of benchmarks.drawings) write(`public/${address}`, svg);
await build(sources);
cpSync(join(root, "LICENSE"), join(output, "LICENSE"));

function write(name: string, text: string): void {
  const path = join(sources, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The reference that `npm run docs:reference` has made of the doc comments. */
function apiPages(): readonly Page[] {
  const folder = join(root, "build/docs");
  const about = "Every function and type, by entry point, with the unit, range and default of its options.";
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      if (name !== "README.md") return { path: `reference/api/${name.replace(/\.md$/, "")}`, text };
      return { path: "reference/api/index", text: text.replace("# API reference", `# API reference\n\n${about}`) };
    });
}

/** VitePress reads Markdown as a template of Vue: `<T>` and `{{ }}` in prose would be elements and expressions. */
function withoutMarkup(text: string): string {
  return outsideCode(text, (prose) =>
    prose
      .replaceAll(/<!--[\s\S]*?-->/g, "")
      .replaceAll(/(`+)[^`]*?\1|<|\{\{/g, (found) =>
        found === "<" ? "&lt;" : found === "{{" ? "&#123;&#123;" : found,
      ),
  );
}

function home(): string {
  const parts = contents.map(({ title, pages: listed }) => {
    const lines = listed.map((path) => {
      const page = pages.find((each) => each.path === path)!;
      return `- [${titleOf(page)}](/${path}): ${summaryOf(page)}`;
    });
    return `## ${title}\n\n${lines.join("\n")}`;
  });
  return withoutMarkup(`# citewell

Index a folder of documents, ask it questions, and get answers whose every citation has been checked against the source.

${parts.join("\n\n")}
`);
}

function llmsText(): string {
  const lines = contents.flatMap(({ title, pages: listed }) => [
    `\n## ${title}\n`,
    ...listed.map((path) => {
      const page = pages.find((each) => each.path === path)!;
      return `- [${titleOf(page)}](/${path}.html): ${summaryOf(page)}`;
    }),
  ]);
  return `# citewell\n\n> Retrieval-augmented generation for TypeScript, in which every citation is checked against its source.\n${lines.join("\n")}\n`;
}
