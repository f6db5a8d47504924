/** Tags with a meaning in our messages. Text from outside never contains one unescaped. */
const reservedTags = "source|question|tool_call|tool_response|conversation_history";
const opening = new RegExp(`<(\\\\*)(?=/?(?:${reservedTags})\\b)`, "giu");
const escapedOpening = new RegExp(`<\\\\(\\\\*)(?=/?(?:${reservedTags})\\b)`, "giu");

/**
 * Puts a backslash after the `<` of a reserved tag, so that text from outside can neither close the tag around it nor
 * open another: `</source>` becomes `<\/source>`. `unescapeTags` undoes this exactly.
 */
export function escapeTags(text: string): string {
  return text.replace(opening, "<\\$1");
}

const toolOpening = /<(\\*)(?=\/?(?:tool_call|tool_response)\b)/giu;

/** The same for the tags of tools only, for text with sources that were escaped before. */
export function escapeToolTags(text: string): string {
  return text.replace(toolOpening, "<\\$1");
}

/** The text that `escapeTags` was given. */
export function unescapeTags(text: string): string {
  return text.replace(escapedOpening, "<$1");
}

const jsonTag = new RegExp(`<(?=/?(?:${reservedTags})\\b)`, "giu");

/** JSON without any reserved tag; a JSON parser reads the same value from it. */
export function tagFreeJson(value: unknown): string {
  return JSON.stringify(value).replace(jsonTag, "\\u003c");
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
  return ` ${name}="${value.replace(/[&"<>\n\r]/gu, (character) => entities[character] ?? character)}"`;
}

/** The values that `attribute` wrote, by name. */
export function parseAttributes(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(/ ([a-z]+)="([^"]*)"/gu)) {
    found.set(
      name,
      value.replace(/&(?:amp|quot|lt|gt|#10|#13);/gu, (entity) => characters[entity] ?? entity),
    );
  }
  return found;
}
