import DOMPurify, { type Config } from "dompurify";

const plainAttributes = ["start", "align", "type", "tabindex", "target", "rel", "aria-label", "data-citation"];

const config = {
  ALLOWED_TAGS:
    "p br hr h3 h4 h5 h6 strong em del code pre blockquote ul ol li a button div table thead tbody tr th td u".split(
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

/**
 * HTML that cannot run anything, load anything or leave the page by itself. Whatever was written into it, only these
 * elements and attributes are left of it.
 */
export function sanitise(html: string): string {
  // Preact hands the trusted object on to innerHTML as it is, though its types know only strings.
  return DOMPurify.sanitize(html, config) as unknown as string;
}
