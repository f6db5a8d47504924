import { find } from "../html-content.js";
import type { HtmlElement } from "../html-tree.js";

/** Styles are made from others, but not in circles. */
const mostSteps = 20;

/**
 * Names of the paragraph styles that a Word document makes headings of, with their level, 1 to 6: those that have a level
 * in its outline, their own or from the style that they are made from. Those that come with Word are among them.
 */
export function headingStyles(styles: HtmlElement | undefined): ReadonlyMap<string, number> {
  const paragraphs = styles
    ? find(styles, ({ name }) => name === "w:style").filter(({ attributes }) => attributes["w:type"] === "paragraph")
    : [];
  const byId = new Map(paragraphs.map((style) => [style.attributes["w:styleId"], style]));
  const levels = new Map<string, number>();
  for (const style of paragraphs) {
    const name = valueOf(style, "w:name");
    const level = levelOf(style, byId);
    if (name !== undefined && level !== undefined) levels.set(name, level);
  }
  return levels;
}

function levelOf(style: HtmlElement, byId: ReadonlyMap<string | undefined, HtmlElement>): number | undefined {
  let found: HtmlElement | undefined = style;
  for (let steps = 0; found && steps < mostSteps; steps++) {
    const outline = valueOf(found, "w:outlineLvl");
    // The tenth level is that of the text.
    if (outline !== undefined) return Number(outline) < 9 ? Math.min(6, Number(outline) + 1) : undefined;
    const builtIn = /^heading ([1-9])$/i.exec(valueOf(found, "w:name") ?? "")?.[1];
    if (builtIn !== undefined) return Math.min(6, Number(builtIn));
    found = byId.get(valueOf(found, "w:basedOn"));
  }
  return undefined;
}

function valueOf(style: HtmlElement, wanted: string): string | undefined {
  return find(style, ({ name }) => name === wanted)[0]?.attributes["w:val"];
}
