import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { outsideCode, type Page } from "./page.js";

/** Pages that are files of the repository elsewhere, by the path of the file. */
const documents: Readonly<Record<string, string>> = {
  "CHANGELOG.md": "reference/changes",
  "ARCHITECTURE.md": "reference/decisions",
  "CONTRIBUTING.md": "reference/contributing",
  "benchmarks/README.md": "reference/benchmarks",
  "src/contract/README.md": "reference/contract",
  "README.md": "reference/readme",
  "examples/README.md": "guides/all",
};

/** Pages made of the guides, their programs and the documents of a repository, and of the pages written for the site. */
export function repositoryPages(root: string): readonly Page[] {
  const names = (folder: string, ending: RegExp) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => ending.test(name))
      .map((name) => `${folder}/${name}`);
  const guides = names("examples", /.\/README\.md$/);
  const programs = names("examples", /\.tsx?$/);
  const written = names("site/pages", /\.md$/);
  const paths = new Map([
    ...Object.entries(documents).filter(([file]) => existsSync(join(root, file))),
    ...guides.map((file) => [file, `guides/${dirname(relative("examples", file))}`] as const),
    ...programs.map((file) => [file, `programs/${relative("examples", file)}`.replace(/\.(tsx?)$/, "-$1")] as const),
    ...written.map((file) => [file, relative("site/pages", file).replace(/\.md$/, "")] as const),
  ]);
  return [...paths].map(([file, path]) => {
    const text = readFileSync(join(root, file), "utf8");
    if (file.endsWith(".md")) return { path, text: withSiteLinks(text, file, paths) };
    return { path, text: `# ${relative("examples", file)}\n\n${fence(file, text)}\n` };
  });
}

function fence(file: string, code: string): string {
  return `\`\`\`\`${file.endsWith("x") ? "tsx" : "ts"}\n${code.trimEnd()}\n\`\`\`\``;
}

/** Links to files become links to their pages. A file or folder that has no page keeps its name alone. */
function withSiteLinks(text: string, file: string, paths: ReadonlyMap<string, string>): string {
  return outsideCode(text, (prose) =>
    prose.replaceAll(
      /(?<!!)\[([^\]]*)\]\((?!https?:|#|\/)([^)#\s]+)(#[^)\s]*)?\)/g,
      (_, label: string, target: string, anchor = "") => {
        const path = join(dirname(file), target).replace(/\/$/, "");
        const page = paths.get(path) ?? paths.get(`${path}/README.md`);
        return page === undefined ? label : `[${label}](/${page}${anchor})`;
      },
    ),
  );
}
