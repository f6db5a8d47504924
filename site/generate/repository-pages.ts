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
  "examples/README.md": "guides/all",
};

/** Pages that only the site has, by the words that stand for them where there is no site: in the repository and in the package. */
const standIns: Readonly<Record<string, string>> = {
  "`citewell explain CODE`": "reference/errors",
  "`citewell COMMAND --help`": "reference/command-line",
  "`ARCHITECTURE.md`": "reference/decisions",
  "`CONTRIBUTING.md`": "reference/contributing",
  "`benchmarks/README.md`": "reference/benchmarks",
};

/** Files whose pages are made from elsewhere. */
const elsewhere: Readonly<Record<string, string>> = {
  "dist/index.d.ts": "reference/api/index",
  "README.md": "start/what-it-is",
};

/** Pages of the repository, and the pictures that they show. */
export interface RepositoryPages {
  readonly pages: readonly Page[];
  /** Path of each picture in the repository, by its address in the site without the leading slash. */
  readonly pictures: ReadonlyMap<string, string>;
}

/** Pages made of the guides, their programs and the documents of a repository, and of the pages written for the site. */
export function repositoryPages(root: string): RepositoryPages {
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
  const targets = new Map([...Object.entries(elsewhere), ...paths]);
  const pictures = new Map<string, string>();
  const pages = [...paths].map(([file, path]) => {
    const text = readFileSync(join(root, file), "utf8");
    if (!file.endsWith(".md")) return { path, text: `# ${relative("examples", file)}\n\n${fence(file, text)}\n` };
    return { path, text: withSitePictures(withSiteLinks(text, file, targets), file, pictures) };
  });
  return { pages, pictures };
}

function fence(file: string, code: string): string {
  return `\`\`\`\`${file.endsWith("x") ? "tsx" : "ts"}\n${code.trimEnd()}\n\`\`\`\``;
}

/** Links to files become links to their pages. A file or folder that has no page keeps its name alone. */
function withSiteLinks(text: string, file: string, paths: ReadonlyMap<string, string>): string {
  const linked = (prose: string) =>
    prose.replaceAll(
      /(?<!!)\[([^\]]*)\]\((?!https?:|#|\/)([^)#\s]+)(#[^)\s]*)?\)/g,
      (_, label: string, target: string, anchor = "") => {
        const path = join(dirname(file), target).replace(/\/$/, "");
        const page = paths.get(path) ?? paths.get(join(path, "README.md"));
        return page === undefined ? label : `[${label}](/${page}${anchor})`;
      },
    );
  const named = (prose: string) =>
    prose.replaceAll(/(?<!\[)`(?:citewell (?:explain CODE|COMMAND --help)|[\w/]+\.md)`/g, (words) => {
      const page = standIns[words];
      return page === undefined ? words : `[${words}](/${page})`;
    });
  return outsideCode(text, (prose) => named(linked(prose)));
}

/** Pictures lie in one folder of the site, under their path in the repository. */
function withSitePictures(text: string, file: string, pictures: Map<string, string>): string {
  return outsideCode(text, (prose) =>
    prose.replaceAll(/!\[([^\]]*)\]\((?!https?:|\/)([^)\s]+)\)/g, (_, label: string, target: string) => {
      const path = join(dirname(file), target);
      const address = `pictures/${path.replaceAll("/", "-")}`;
      pictures.set(address, path);
      return `![${label}](/${address})`;
    }),
  );
}
