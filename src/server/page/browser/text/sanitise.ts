import DOMPurify, { type Config } from "dompurify";

const plainAttributes = [
  "start",
  "align",
  "type",
  "tabindex",
  "target",
  "rel",
  "aria-label",
  "data-citation",
  "data-document",
  "data-language",
];

const config = {
  ALLOWED_TAGS:
    "p br hr h3 h4 h5 h6 strong em del code pre blockquote ul ol li a button div span table thead tbody tr th td u".split(
      " ",
    ),
  ALLOWED_ATTR: ["href", "title", "class", ...plainAttributes],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  // DOMPurify takes the value of any other attribute for an address.
  ADD_URI_SAFE_ATTR: plainAttributes,
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  RETURN_TRUSTED_TYPE: true,
} satisfies Config;

/** Elements that documents have besides those of an answer. */
const documentTags = "b i s ins sub sup kbd details summary dl dt dd caption".split(" ");
/** A document sets no classes, which are the page's own. */
const documentAttributes = ["start", "align", "tabindex", "data-document"];
const documentConfig = {
  ...config,
  ALLOWED_TAGS: [...config.ALLOWED_TAGS, ...documentTags],
  ALLOWED_ATTR: ["href", "title", ...documentAttributes],
  ADD_URI_SAFE_ATTR: documentAttributes,
  RETURN_TRUSTED_TYPE: false,
  RETURN_DOM_FRAGMENT: true,
} satisfies Config;

/**
 * HTML that cannot run anything, load anything or leave the page by itself. Whatever was written into it, only these
 * elements and attributes are left of it.
 */
export function sanitise(html: string): string {
  // Preact hands the trusted object on to innerHTML as it is, though its types know only strings.
  return DOMPurify.sanitize(html, config) as unknown as string;
}

/** MathML of a formula alone: its elements, and none of HTML. */
export function sanitisedMath(markup: string): DocumentFragment {
  // The annotation repeats the formula as TeX.
  return DOMPurify.sanitize(markup, {
    USE_PROFILES: { mathMl: true },
    FORBID_CONTENTS: ["annotation"],
    RETURN_DOM_FRAGMENT: true,
  });
}

/** The same of a document, whose own HTML is kept as far as it looks like something. Its links leave the page where it is. */
export function sanitisedFragment(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, documentConfig);
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  return fragment;
}
