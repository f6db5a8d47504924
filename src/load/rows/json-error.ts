const letters = String.raw`[^"\\\p{Cc}]*`;
const string = String.raw`"${letters}(?:(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|[\x7f-\x9f])${letters})*"`;
const literal = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null`;
const token = new RegExp(String.raw`[ \t\r\n]*(?:([{}[\],:])|(${string})|(?:${literal}))`, "uy");
const blank = /[ \t\r\n]*/y;

/** What may come next: `value`, `value-or-]`, `key-or-}`, `key`, `:`, `, or end`. */
type Expected = "value" | "value-or-]" | "key-or-}" | "key" | ":" | ",";

/**
 * Offset of the first character that no JSON text goes on with, or of the end when it is cut off; `undefined` for valid
 * JSON. What the platform's own parser says of it depends on its version.
 */
export function jsonErrorOffset(text: string): number | undefined {
  const open: string[] = [];
  let expected: Expected = "value";
  let at = 0;
  let done = false;
  while (!done) {
    token.lastIndex = at;
    const found = token.exec(text);
    blank.lastIndex = at;
    const start = at + blank.exec(text)![0].length;
    if (!found) return start;
    const [, sign, quoted] = found;
    const next = follow(expected, sign ?? (quoted === undefined ? "literal" : "string"), open);
    if (next === undefined) return start;
    at = token.lastIndex;
    expected = next;
    done = open.length === 0 && expected === ",";
  }
  const rest = /\S/.exec(text.slice(at));
  return rest ? at + rest.index : undefined;
}

function follow(expected: Expected, seen: string, open: string[]): Expected | undefined {
  const isValue = expected === "value" || expected === "value-or-]";
  if (seen === "{" && isValue) {
    open.push("}");
    return "key-or-}";
  }
  if (seen === "[" && isValue) {
    open.push("]");
    return "value-or-]";
  }
  if (seen === "literal") return isValue ? "," : undefined;
  if (seen === "string") return isValue ? "," : expected === "key" || expected === "key-or-}" ? ":" : undefined;
  if (seen === ":") return expected === ":" ? "value" : undefined;
  if (seen === ",") return expected === "," ? (open.at(-1) === "}" ? "key" : "value") : undefined;
  const closes = expected === "," || expected === (seen === "}" ? "key-or-}" : "value-or-]");
  return closes && open.pop() === seen ? "," : undefined;
}
