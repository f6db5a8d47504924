import type { DefaultTheme, UserConfig } from "vitepress";
import { contents } from "./contents.js";
import { type Page, titleOf } from "./page.js";

/** Configuration of VitePress: the sidebar is the order of the site, and search needs nothing but the site's own files. */
export function siteConfig(pages: readonly Page[], output: string): UserConfig<DefaultTheme.Config> {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const item = (path: string) => ({ text: titleOf(byPath.get(path)!), link: `/${path}` });
  const below = (folder: string) =>
    pages
      .map(({ path }) => path)
      .filter((path) => path.startsWith(folder))
      .toSorted();
  return {
    title: "citewell",
    description: "Answers whose every citation has been checked against the source.",
    lang: "en",
    outDir: output,
    head: [["link", { rel: "icon", type: "image/svg+xml", href: "/icon.svg" }]],
    // A static host may serve the site from a folder of any name if no page is moved; addresses end in .html.
    cleanUrls: false,
    // An address of this machine in a guide is an example.
    ignoreDeadLinks: "localhostLinks",
    themeConfig: {
      search: { provider: "local" },
      outline: [2, 3],
      sidebar: [
        ...contents.map(({ title, pages: listed }) => ({ text: title, collapsed: false, items: listed.map(item) })),
        { text: "Benchmarks", collapsed: true, items: below("reference/benchmarks/").map(item) },
        { text: "API", collapsed: true, items: below("reference/api/").map(item) },
        { text: "Programs", collapsed: true, items: below("programs/").map(item) },
      ],
    },
  };
}
