import { isText, type HtmlElement, type HtmlNode } from "../html-tree.js";

/** Prefixes in force at an element, each with the one that it is to be called. */
type Prefixes = ReadonlyMap<string, string>;

/**
 * The same XML with the prefixes that everybody uses: a file may call its namespaces what it likes.
 *
 * @param usual what a namespace is called, by its name; elements of others keep their prefix.
 */
export function withUsualPrefixes(root: HtmlElement, usual: ReadonlyMap<string, string>): HtmlElement {
  return renamed(root, new Map(), usual);
}

function renamed(element: HtmlElement, outer: Prefixes, usual: ReadonlyMap<string, string>): HtmlElement {
  const prefixes = declared(element, outer, usual);
  const attributes = Object.entries(element.attributes).map(([name, value]) => [called(name, prefixes), value]);
  const children = element.children.map((child): HtmlNode => (isText(child) ? child : renamed(child, prefixes, usual)));
  return {
    ...element,
    name: called(element.name, prefixes),
    attributes: Object.fromEntries(attributes) as HtmlElement["attributes"],
    children,
  };
}

function declared({ attributes }: HtmlElement, outer: Prefixes, usual: ReadonlyMap<string, string>): Prefixes {
  const found = Object.entries(attributes).flatMap(([name, uri]) => {
    const prefix = /^xmlns:(.+)$/.exec(name)?.[1];
    const known = usual.get(uri);
    return prefix === undefined || known === undefined || known === prefix ? [] : [[prefix, known] as const];
  });
  return found.length === 0 ? outer : new Map([...outer, ...found]);
}

function called(name: string, prefixes: Prefixes): string {
  if (prefixes.size === 0) return name;
  const colon = name.indexOf(":");
  const known = colon < 0 ? undefined : prefixes.get(name.slice(0, colon));
  return known === undefined ? name : known + name.slice(colon);
}
