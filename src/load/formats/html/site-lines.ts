import { holdsBlocks } from "./blocks.js";
import { isText, lineOf, type HtmlElement } from "../element-tree.js";

/** A kind of text within an article that belongs to its site. */
export type SitePart =
  | "title"
  | "captions"
  | "share bars"
  | "related links"
  | "bylines"
  | "newsletter boxes"
  | "comments"
  | "advertisements"
  | "galleries"
  | "notices";

/** Words that stand above or before links to other pages. */
const lead =
  "related(?: (?:posts?|articles?|stor(?:y|ies)|news|content|links|topics?|reading|coverage))?|(?:you (?:may|might)|we think you)(?:['’]ll| will)? (?:also )?(?:like|enjoy|be interested in)|(?:read|watch) (?:more|next|also|now)|see more|also (?:read|see|on)|more (?:from|on|stories|news|great|about|in|like this)|most (?:read|popular|viewed|shared)|recommended(?: for you| reading| stories)?|trending(?: now| stories)?|popular (?:now|posts|stories|on)|don['’]t miss|up next|latest (?:news|stories|posts)|what to read next|in case you missed it|keep reading|editor['’]s picks?|top stories";
const leadLine = new RegExp(`^(?:${lead})\\b[^.!?]{0,60}$`, "i");
const leadBeforeLinks = new RegExp(`^(?:${lead})\\b(?:\\s?[:|–—…]|\\s(?=\\p{Lu}{2}))`, "iu");

/** Whole lines that are a site's, wherever they stand. */
const siteLines: readonly (readonly [SitePart, RegExp])[] = [
  [
    "advertisements",
    /^(?:advert(?:isement|s)?|sponsored(?: content)?|(?:story|article) continues below(?: advertisement)?|loading(?: content)?(?:\.\.\.|…)?)\W*$/i,
  ],
  [
    "share bars",
    /^(?:share(?: (?:this|on|via|with) .{0,50})?|(?:tweet|pin it|e-?mail|print|facebook|twitter|whatsapp|close|save)|follow .{2,60} on (?:twitter|facebook|instagram|linkedin|youtube).{0,120}|(?:like|find) us on \w+.{0,60})\W*$/i,
  ],
  [
    "newsletter boxes",
    /^(?:(?:please )?(?:sign up|subscribe)\b.{0,160}(?:newsletters?|inbox|e-?mails?|updates|magazine|today|free|here|podcast|alerts?)\b.{0,60}|subscribe|sign up|newsletters?|get (?:the|our|breaking).{0,80}(?:newsletter|inbox|alerts?).{0,80}|click here (?:to|for)\b.{0,120})$/i,
  ],
  [
    "comments",
    /^(?:(?:\d+|no|view|show|post|leave|add|read)(?: (?:all|a|the|your))? ?(?:comments?|repl(?:y|ies)|responses?)|comments?(?: \(\d+\))?|comments are closed.{0,40})\W*$/i,
  ],
  [
    "captions",
    /^(?:image (?:copyright|caption)\b.{0,200}|media (?:caption|playback is)\b.{0,200}|(?:photos?|image|picture|foto|фото|credit)\s?(?::|by |credit|©).{0,120}|file photo:.{0,300}|[^.!?]{0,80}\/ ?(?:getty images|reuters|afp|shutterstock|ap)\W*)$/i,
  ],
];
/** Lines above the text of an article. */
const byline =
  /^(?:(?:by|von|par|por)\s\p{Lu}[\p{L}’'.-]+(?:,? (?:and |& )?\p{Lu}[\p{L}’'.-]+){0,8}.{0,50}|(?:(?:first |last )?(?:published|updated|posted|modified)(?: on| at)?\b:?.{0,80}\d.{0,60})|.{0,40}\b\d+ min(?:ute)?s? read\b.{0,40})$/iu;
/** Lines below it, about its making and its rights. */
const closing =
  /^(?:(?:©|\(c\)|copyright\b).{0,300}|.{0,200}\ball rights reserved\b.{0,100}|\(?(?:additional |with )?(?:reporting|writing|editing) by\b.{0,300}|.{0,160}\bcontributed (?:to this|reporting)\b.{0,100}|this (?:document|article|story|material) (?:is subject to copyright|may not be)\b.{0,400}|(?:via|citation|tags?|filed under|categories|posted in|hashtags?)\s?:.{0,300}|reach the reporters?\b.{0,200}|(?:e-?mail|contact|follow) (?:the (?:author|reporter|writer)|him|her)\b.{0,160}|more(?: \w+){0,4}:.{0,200}|this (?:post|article) (?:may )?contains? affiliate links.{0,200})$/is;

const headings: ReadonlySet<string> = new Set(["h1", "h2", "h3", "h4", "h5", "h6"]);
/** A paragraph of this many characters is prose; shorter ones may be the site's. */
const minProse = 80;
const maxLine = 400;
/** A list of links has short entries. */
const maxLinkLine = 250;

interface Line {
  readonly element: HtmlElement;
  /** An entry of a list, or inside one. */
  readonly isListed: boolean;
  readonly isHeading: boolean;
  readonly text: string;
  /** Share of the text in links, 0 to 1. */
  readonly linked: number;
}

/**
 * The lines of an article that are its site's by their words: the title, links with the words above them, invitations, and
 * the lines below the text. The innermost blocks are looked at, one by one in order, but those of code, quotes and tables.
 */
export function wordedParts(article: HtmlElement, title: string): Map<HtmlElement, SitePart> {
  const lines = linesOf(article);
  const prose = lines.filter(
    ({ element, text, linked }) => element.name === "p" && text.length >= minProse && linked < 0.5,
  );
  const firstProse = Math.max(0, prose.length > 0 ? lines.indexOf(prose[0]!) : 0);
  const parts = new Map<HtmlElement, SitePart>();
  let isBelowLead = false;
  for (const [index, line] of lines.entries()) {
    const { element, text, linked, isListed, isHeading } = line;
    if (index <= firstProse && isHeading && saysTitle(text, title)) parts.set(element, "title");
    else if (isBelowLead && !isHeading && text.length < maxLinkLine && (linked >= 0.3 || (isListed && linked > 0))) {
      parts.set(element, "related links");
    } else if (isLead(line, lines[index + 1])) {
      parts.set(element, "related links");
      isBelowLead = true;
    } else if (!isListed && !isHeading && linked >= 0.95 && prose.length >= 3) parts.set(element, "related links");
    else {
      const part = text.length < maxLine ? siteLines.find(([, pattern]) => pattern.test(text))?.[0] : undefined;
      if (part !== undefined) parts.set(element, part);
      else if (index < Math.max(3, firstProse) && byline.test(text)) parts.set(element, "bylines");
      else isBelowLead = false;
    }
  }
  for (const { element, text } of lines.slice(Math.ceil(lines.length / 2)).toReversed()) {
    if (parts.has(element)) continue;
    if (!closing.test(text)) break;
    parts.set(element, "notices");
  }
  return parts;
}

function isLead({ text, linked }: Line, next: Line | undefined): boolean {
  if (linked >= 0.3) return text.length < maxLinkLine && leadBeforeLinks.test(text);
  if (!leadLine.test(text)) return false;
  // With nothing left below it, its links are gone already.
  return next === undefined || next.isHeading || (next.linked >= 0.3 && next.text.length < maxLinkLine);
}

function linesOf(article: HtmlElement): Line[] {
  const lines: Line[] = [];
  const walk = (element: HtmlElement, listed: boolean, inLink: boolean) => {
    for (const child of element.children) {
      if (isText(child) || skipped.has(child.name)) continue;
      const isListed = listed || child.name === "li";
      if (
        headings.has(child.name) ||
        (blocks.has(child.name) && !child.children.some((inner) => !isText(inner) && holdsBlocks(inner)))
      ) {
        const { text, inLinks } = child.size;
        if (text === 0) continue;
        const isHeading = headings.has(child.name);
        lines.push({ element: child, isListed, isHeading, text: lineOf(child), linked: inLink ? 1 : inLinks / text });
      } else if (holdsBlocks(child)) walk(child, isListed, inLink || child.name === "a");
      else if (child.name === "a" && child.size.text >= minProse) {
        lines.push({ element: child, isListed, isHeading: false, text: lineOf(child), linked: 1 });
      }
    }
  };
  walk(article, false, article.name === "a");
  return lines;
}

/** Blocks whose lines are judged alone; those of code, quotations and tables belong together. */
const blocks: ReadonlySet<string> = new Set("p div li section header footer aside center form figure".split(" "));
const skipped: ReadonlySet<string> = new Set(["pre", "blockquote", "math", "dl"]);

const separator = /\s+[|–—·»:-]+\s+|\s*[|»]\s*/u;
/** A heading as long as this that begins the title is the title, even where the title goes on. */
const minTitle = 30;

/** Whether a heading repeats the title of the page, which often names the site, too. */
function saysTitle(heading: string, title: string): boolean {
  const said = plain(heading);
  const whole = plain(title);
  if (said === "" || whole === "") return false;
  if (said === whole || title.split(separator).some((part) => plain(part) === said)) return true;
  return (
    Math.min(said.length, whole.length) >= minTitle &&
    (whole.startsWith(said) || said.startsWith(whole) || whole.endsWith(said))
  );
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
