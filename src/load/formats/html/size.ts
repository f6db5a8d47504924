import { isText, type HtmlElement } from "../element-tree.js";

/** Characters of the texts in an element, and how many of them are in links. White space around a text does not count. */
export interface Size {
  readonly text: number;
  readonly inLinks: number;
}
export type Sizes = ReadonlyMap<HtmlElement, Size>;

/** The size of each element, all in one walk: to ask each for its text would take time by the depth of the page as well. */
export function sizesIn(root: HtmlElement): Sizes {
  const sizes = new Map<HtmlElement, Size>();
  const measure = (element: HtmlElement, inLink: boolean): Size => {
    let [text, inLinks] = [0, 0];
    for (const child of element.children) {
      const characters = isText(child) ? child.text.trim().length : 0;
      const size = isText(child)
        ? { text: characters, inLinks: inLink ? characters : 0 }
        : measure(child, inLink || child.name === "a");
      text += size.text;
      inLinks += size.inLinks;
    }
    const size = { text, inLinks };
    sizes.set(element, size);
    return size;
  };
  measure(root, root.name === "a");
  return sizes;
}

export function sizeOf(element: HtmlElement): Size {
  return sizesIn(element).get(element)!;
}
