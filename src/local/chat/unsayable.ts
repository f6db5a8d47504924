/** Lines at which a chunk may have begun inside front matter. */
const mostFrontMatterLines = 40;

/**
 * Prose without what is in it for machines: front matter, link reference definitions, comments, and lines that hold
 * only tags, shortcodes or images. Each leaves an empty line behind, so that nothing joins across it.
 */
export function sayable(prose: string): string {
  const body = withoutFrontMatter(prose).replace(/<!--[\s\S]*?(?:-->|$)/g, "\n\n");
  let definition = false;
  return body
    .split(/\r?\n/)
    .map((line) => {
      // The target of a definition may stand on the line below its label.
      const continued = definition && /^[ \t]+\S+[ \t]*$/.test(line);
      definition = /^[ \t]*\[[^\]^][^\]]*\]:[ \t]*$/.test(line);
      return continued || isForMachines(line) ? "" : line;
    })
    .join("\n");
}

function isForMachines(line: string): boolean {
  if (/^[ \t>]*\[[^\]^][^\]]*\]:(?:[ \t]|$)/.test(line)) return true;
  if (/^[ \t>]*\[![A-Z]+\][ \t]*$/.test(line)) return true;
  if (!/[<{!]/.test(line)) return false;
  const rest = line
    .replace(/\{\{[<%][\s\S]*?[%>]\}\}/g, "")
    .replace(/<\/?[a-z][^<>]*>/gi, "")
    .replace(/!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])/g, "");
  return rest !== line && !/[\p{L}\p{N}]/u.test(rest);
}

/** Front matter stands between lines of three dashes; a chunk may hold only its end. */
function withoutFrontMatter(text: string): string {
  const lines = text.split("\n");
  const opens = /^-{3}\s*$/.test(lines[0] ?? "");
  const close = lines.findIndex((line, at) => at > 0 && /^-{3}\s*$/.test(line));
  if (close < 0) return opens && lines.slice(1).every(isSetting) ? "" : text;
  if (!opens && (close > mostFrontMatterLines || !lines.slice(0, close).every(isSetting))) return text;
  return lines.slice(close + 1).join("\n");
}

/** `key: value`, or what belongs to one: an indented line, an item, a comment, nothing. */
function isSetting(line: string): boolean {
  return /^(?:[\w-]+:(?:\s|$)|[ \t]+\S|- |#|\s*$)/.test(line);
}
