import { LoadError } from "../../../core/errors.js";

/** Characters of the entity sets of ISO that texts are full of, and that XML itself does not have. */
const predefined: Readonly<Record<string, string>> = {
  nbsp: "\u{a0}",
  copy: "©",
  reg: "®",
  trade: "™",
  mdash: "—",
  ndash: "–",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  times: "×",
  deg: "°",
  middot: "·",
  bull: "•",
  rarr: "→",
  larr: "←",
  eacute: "é",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  szlig: "ß",
};

/** Characters that entities may add to a file: more are a bomb. */
const maxAddedCharacters = 1_000_000;
/** Entities within entities, within which an entity may stand. */
const maxDepth = 8;
const reference = /<!\[CDATA\[[\s\S]*?\]\]>|&([A-Za-z_][\w.-]*);/g;

/**
 * Replaces the entities that a file declares in itself by their text. Those of other files are left out, and one within
 * itself ends there.
 *
 * @throws LoadError (`too-large`) when they add more than a million characters.
 */
export function withEntities(source: string, uri: string): string {
  const doctype = /<!DOCTYPE[^>[]*\[([\s\S]{0,200000}?)\]\s*>/.exec(source.slice(0, 300_000));
  const declared = new Map(Object.entries(predefined));
  for (const [, name, value] of (doctype?.[1] ?? "").matchAll(
    /<!ENTITY\s+([A-Za-z_][\w.-]*)\s+(?:"([^"]*)"|'[^']*'|(?:SYSTEM|PUBLIC)[^>]*)\s*>/g,
  )) {
    declared.set(name!, (value ?? "").replace(/\s+/g, " "));
  }
  let added = 0;
  const expanded = (text: string, depth: number): string =>
    text.replace(reference, (whole, name: string | undefined) => {
      const value = name === undefined ? undefined : declared.get(name);
      if (value === undefined) return whole;
      added += value.length;
      if (added > maxAddedCharacters) {
        throw new LoadError(
          "too-large",
          uri,
          `${uri} has entities that add more than ${maxAddedCharacters} characters: write them out`,
        );
      }
      return depth < maxDepth ? expanded(value, depth + 1) : "";
    });
  if (!doctype) return expanded(source, 0);
  // The declarations are no text, but their lines count.
  const before = source.slice(0, doctype.index);
  const lines = doctype[0].replace(/[^\n]+/g, "");
  return expanded(before + lines + source.slice(doctype.index + doctype[0].length), 0);
}
