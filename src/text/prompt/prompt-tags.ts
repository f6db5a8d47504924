/** Tags with a meaning in our messages. Text from outside never contains one unescaped, in whatever letters it is written. */
const toolTags = ["tool_call", "tool_response"];
const reservedTags = ["source", "question", "conversation_history", ...toolTags];

// A model reads more than a parser does: `</ source>`, `</SOURCE\n>`, and what looks like it in other letters.

/** Characters that look like `<`. */
const brackets = "<\uff1c\ufe64\u2039\u3008\u27e8\u02c2";
/** Characters that look like `/`. */
const slash = "[/\uff0f\u2044\u2215]";
/** A character that cannot be seen. */
const unseen = "[\\p{Cc}\\p{Default_Ignorable_Code_Point}]";
const blank = `(?:\\s|${unseen})`;
/** Pattern of such characters in JSON, which writes some of them as escapes. */
const blankInJson = `(?:${blank}|\\\\(?:[bfnrt]|u00[01][\\da-f]))`;

/** The letters that Unicode keeps for compatibility, such as those of full width, by the ASCII letter that they stand for. */
const variants: ReadonlyMap<string, string> = variantsOfLetters([
  [0x2100, 0x214f],
  [0x24b6, 0x24e9],
  [0xff21, 0xff5a],
  [0x1d400, 0x1d6a3],
]);

function variantsOfLetters(blocks: readonly (readonly [from: number, to: number])[]): ReadonlyMap<string, string> {
  const found = new Map([["_", "\uff3f"]]);
  for (const [from, to] of blocks) {
    for (let code = from; code <= to; code++) {
      const character = String.fromCodePoint(code);
      const letter = character.normalize("NFKC").toLowerCase();
      if (/^[a-z]$/u.test(letter)) found.set(letter, (found.get(letter) ?? "") + character);
    }
  }
  return found;
}

/** Pattern of the text after the bracket of a tag: slashes and blanks, then one of the names. */
function tagBehind(names: readonly string[], gap: string): string {
  const written = names.map((name) =>
    Array.from(name, (letter) => `[${letter}${variants.get(letter) ?? ""}]`).join(`${unseen}*`),
  );
  return `${gap}*(?:${slash}${gap}*)*(?:${written.join("|")})(?![\\p{L}\\p{N}_])`;
}

const behindTag = tagBehind(reservedTags, blank);
const opening = new RegExp(`([${brackets}])(\\\\*)(?=${behindTag})`, "giu");
const escapedOpening = new RegExp(`([${brackets}])\\\\(\\\\*)(?=${behindTag})`, "giu");

/**
 * Puts a backslash after the `<` of a reserved tag, so that text from outside can neither close the tag around it nor
 * open another: `</source>` becomes `<\/source>`. `unescapeTags` undoes this exactly.
 */
export function escapeTags(text: string): string {
  return text.replace(opening, "$1\\$2");
}

const toolOpening = new RegExp(`([${brackets}])(\\\\*)(?=${tagBehind(toolTags, blank)})`, "giu");

/** Like `escapeTags`, for the tags of tools only: for text with sources that were escaped before. */
export function escapeToolTags(text: string): string {
  return text.replace(toolOpening, "$1\\$2");
}

/** The text that `escapeTags` was given. */
export function unescapeTags(text: string): string {
  return text.replace(escapedOpening, "$1$2");
}

const jsonTag = new RegExp(`[${brackets}](?=${tagBehind(reservedTags, blankInJson)})`, "giu");

/** JSON without any reserved tag; a JSON parser reads the same value from it. */
export function tagFreeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    jsonTag,
    (bracket) => `\\u${bracket.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  '"': "&quot;",
  "<": "&lt;",
  ">": "&gt;",
  "\n": "&#10;",
  "\r": "&#13;",
};
const characters = Object.fromEntries(Object.entries(entities).map(([character, entity]) => [entity, character]));

/** ` name="value"`, or an empty string without a value. */
export function attribute(name: string, value: string | undefined): string {
  if (value === undefined) return "";
  const escaped = value.replace(/[&"<>\n\r]/gu, (character) => entities[character] ?? character);
  const tagFree = escaped.replace(opening, (_, bracket: string, rest: string) => `&#${bracket.charCodeAt(0)};${rest}`);
  return ` ${name}="${tagFree}"`;
}

/** The values that `attribute` wrote, by name. */
export function parseAttributes(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(/ ([a-z]+)="([^"]*)"/gu)) {
    found.set(
      name,
      value.replace(
        /&(?:amp|quot|lt|gt|#(\d+));/gu,
        (entity, code?: string) => characters[entity] ?? String.fromCharCode(Number(code)),
      ),
    );
  }
  return found;
}
