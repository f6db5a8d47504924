import { pictureWords } from "./inline.js";
import { wordedParts, type SitePart } from "./site-lines.js";
import { find, isText, lineOf, withReplaced, type HtmlElement, type HtmlNode } from "../element-tree.js";

/** Is told of each part that is left out, with its text in one line. */
export type NoteLeftOut = (part: SitePart, text: string) => void;

/** Classes and ids as words: `newsletterSignup`, `newsletter-signup` and `signup__newsletter--wide` say the same. */
const partsByName: readonly (readonly [SitePart, RegExp])[] = [
  [
    "captions",
    /\b(?:fig)?captions?\b|\b(?:photo|image|picture) ?(?:credits?|source|meta)\b|\bcredits?\b|\bimage and copyright\b/,
  ],
  ["share bars", /\b(?:shar(?:e|es|ing)|sharebar|social|socials|addthis|addtoany|sharethis|sharedaddy)\b/],
  [
    "related links",
    /\b(?:related(?:posts|articles|stories|news)?|recommend(?:ed|ations?)|trending|teasers?|outbrain|taboola|zergnet|recirc(?:ulation)?|read ?(?:more|next|also)|up ?next|most ?(?:read|popular|viewed)|more ?(?:stories|news|from|posts)|also ?like|latest ?(?:news|posts|stories)|breadcrumbs?|tag ?(?:s|list|links|cloud)|post ?tags|pagination|post ?navigation)\b/,
  ],
  [
    "bylines",
    /\b(?:by ?lines?|authors?|(?:author|post|entry|article|story) ?(?:bio|info|meta|date|author|data)|meta ?(?:data|info)|publish(?:ed)? ?(?:info|date|time|on)|pub ?date|date ?(?:line|time|published)|dates|time ?stamp|views|attribution|contributors?)\b/,
  ],
  [
    "newsletter boxes",
    /\b(?:news ?letters?|sign ?ups?|subscri(?:be|ption)s?|opt ?in|mailchimp|paywall|call ?to ?action|cta)\b/,
  ],
  ["comments", /\b(?:comments?|disqus|livefyre|respond)\b/],
  ["advertisements", /\b(?:ads?|advert(?:s|isements?|ising)?|sponsor(?:ed|s)?|promo(?:s|tions?|tional)?)\b/],
  ["galleries", /\b(?:gallery|slide ?shows?|carousel|slider|swiper|(?:video|media) ?player|player)\b/],
];

/** Parts that site owners write whole sentences in; the names of others, where sentences stand, are a layout's. */
const wordy: ReadonlySet<SitePart> = new Set(["comments", "captions", "newsletter boxes"]);
/** Elements around the whole article, and those within a sentence, are no boxes of the site. */
const neverBoxes: ReadonlySet<string> = new Set([
  "body",
  "main",
  "article",
  "a",
  "em",
  "strong",
  "b",
  "i",
  "code",
  "table",
  "tbody",
  "pre",
]);

/** A part with this share of the article's text is the article, whatever its name. */
const maxShare = 0.25;
/** Boxes are small: more characters than this are content with an unlucky name. */
const maxCharacters = 1500;
/** A kind of parts with more than this share of the text is no decoration. */
const maxKindShare = 0.3;
/** A paragraph of this many characters, hardly any in links, is prose. */
const minProse = 150;

/**
 * The article without what belongs to its site: its title where `title` says the same, captions, buttons to share, related
 * links, bylines, boxes to sign up, advertisements and notices. Code, tables, lists and quotations stay.
 *
 * @param title title of the page, which a heading above the text repeats
 */
export function withoutSiteParts(article: HtmlElement, title: string, note: NoteLeftOut): HtmlElement {
  const rest = without(article, rare(namedParts(article), article), note);
  return without(rest, rare(wordedParts(rest, title), rest), note);
}

/** The parts of those kinds that have little of the article's text: where captions have half of it, they are the article. */
function rare(parts: ReadonlyMap<HtmlElement, SitePart>, article: HtmlElement): ReadonlyMap<HtmlNode, SitePart> {
  const limit = maxKindShare * article.size.text;
  const characters = new Map<SitePart, number>();
  for (const [element, part] of parts) characters.set(part, (characters.get(part) ?? 0) + element.size.text);
  return new Map([...parts].filter(([, part]) => characters.get(part)! <= limit));
}

/** The outermost elements that are parts of the site by their names. */
function namedParts(article: HtmlElement): Map<HtmlElement, SitePart> {
  const limit = Math.min(maxCharacters, maxShare * article.size.text);
  const parts = new Map<HtmlElement, SitePart>();
  const walk = (element: HtmlElement, inQuote: boolean, inLink: boolean): void => {
    for (const child of element.children) {
      if (isText(child)) continue;
      const part = namedPart(child, element, inQuote);
      if (part !== undefined && child.size.text < limit && !holdsContent(child, part, inLink)) {
        parts.set(child, part);
      } else if (child.name === "img" && !standsInSentence(element)) parts.set(child, "captions");
      else walk(child, inQuote || child.name === "blockquote", inLink || child.name === "a");
    }
  };
  walk(article, false, article.name === "a");
  return parts;
}

function namedPart({ name, attributes }: HtmlElement, parent: HtmlElement, inQuote: boolean): SitePart | undefined {
  if (name === "figcaption" || (name === "cite" && parent.name !== "p" && !inQuote)) return "captions";
  if (name === "time" && !inQuote && parent.name !== "p" && parent.name !== "li") return "bylines";
  if (neverBoxes.has(name)) return undefined;
  const names = [attributes["class"], attributes["id"], attributes["itemprop"]].filter(Boolean).join(" ");
  if (names === "") return undefined;
  const words = names
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replace(/[^a-z]+/g, " ");
  const part = partsByName.find(([, pattern]) => pattern.test(words))?.[0];
  return part === "bylines" && inQuote ? undefined : part;
}

/** Whether an element has code, a formula or prose of its own, so that its name does not tell all. */
function holdsContent(element: HtmlElement, part: SitePart, inLink: boolean): boolean {
  if (find(element, ({ name }) => name === "pre" || name === "math" || name === "dl").length > 0) return true;
  if (wordy.has(part) || inLink) return false;
  return proseIn(element) >= 2;
}

/** The number of outermost paragraphs of prose that are not in links. */
function proseIn({ children }: HtmlElement): number {
  let count = 0;
  for (const child of children) {
    if (isText(child) || child.name === "a") continue;
    const { text, inLinks } = child.size;
    const isProse = child.name === "p" && text >= minProse && inLinks < 0.3 * text;
    count += isProse ? 1 : proseIn(child);
  }
  return count;
}

/** Whether a picture stands between words, as symbols and formulas do. */
function standsInSentence({ name, children }: HtmlElement): boolean {
  return name !== "div" && name !== "figure" && children.some((child) => isText(child) && child.text.trim() !== "");
}

function without(element: HtmlElement, parts: ReadonlyMap<HtmlNode, SitePart>, note: NoteLeftOut): HtmlElement {
  return withReplaced(element, (child) => {
    if (isText(child)) return child;
    const part = parts.get(child);
    if (part === undefined) return without(child, parts, note);
    const text = child.name === "img" ? pictureWords(child.attributes["alt"] ?? "") : lineOf(child);
    if (text !== "") note(part, text);
    return [];
  });
}
