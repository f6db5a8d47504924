import { commandPages } from "./command-pages.js";
import type { Page } from "./page.js";
import { repositoryPages } from "./repository-pages.js";

/** The pages that are written for readers, without the programs and the reference of the API, which repeat their words. */
export function siteDocuments(root: string): readonly Page[] {
  const pages = [...repositoryPages(root).pages, ...commandPages(root)];
  return pages.filter(({ path }) => !/^(?:programs|reference\/api)\//.test(path));
}
