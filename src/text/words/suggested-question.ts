import { isChinese } from "./chinese.js";

/** Openings of headings that tell what to do, as the words of a question. */
const gerunds: Readonly<Record<string, string>> = {
  adding: "add",
  building: "build",
  changing: "change",
  choosing: "choose",
  configuring: "configure",
  connecting: "connect",
  creating: "create",
  debugging: "debug",
  deleting: "delete",
  deploying: "deploy",
  exporting: "export",
  importing: "import",
  installing: "install",
  managing: "manage",
  migrating: "migrate",
  monitoring: "monitor",
  removing: "remove",
  renewing: "renew",
  running: "run",
  setting: "set",
  testing: "test",
  troubleshooting: "troubleshoot",
  updating: "update",
  upgrading: "upgrade",
  using: "use",
  writing: "write",
};
const imperatives = new Set(Object.values(gerunds));
const chineseVerbs = /^(?:安装|配置|使用|创建|部署|迁移|构建|运行|添加|升级|更新|删除|设置|连接|调试|编写)/;

/** Longest question that is taken from a heading, in characters. */
const maxCharacters = 90;

/**
 * A question that a person would ask about a text with this heading, or `undefined` where the heading suggests none. Some headings are
 * a question already, some say what to do, and some are the name of what the first sentence defines: the text answers each of these.
 *
 * @param text begins below the heading.
 */
export function suggestedQuestion(heading: string, text: string): string | undefined {
  const name = heading
    .replaceAll(/[*_`]/g, "")
    .replace(/\s+/g, " ")
    .replace(/\s*[(（][^()（）]*[)）]$/, "")
    .trim();
  const isUsable = name.length >= 2 && name.length <= maxCharacters && text.trim() !== "" && !leansOnText.test(name);
  if (!isUsable) return undefined;
  const isQuestion = /[?？]$/.test(name);
  if (isQuestion && !/^how to /i.test(name)) return isWholeQuestion(name) ? name : undefined;
  const said = isQuestion ? name.slice(0, -1) : name;
  return isChinese(said) ? chineseQuestion(said, text) : englishQuestion(said, text);
}

/** A numbered heading, one that points back, and one that speaks to somebody who is interviewed. */
const leansOnText = /^[\d#]|\b(?:this|these|those|that|it|you|your|we|our)\b|^[这那此该]/i;

/** A heading such as "Why?" asks about the one above it. */
function isWholeQuestion(name: string): boolean {
  return isChinese(name) ? name.length > 4 : name.split(" ").length > 3;
}

function englishQuestion(name: string, text: string): string | undefined {
  const [first = "", ...others] = name.split(" ");
  const opening = first.toLowerCase();
  if (others.length === 0) return isDefined(name, text) ? `What is ${name}?` : undefined;
  const rest = others.join(" ");
  if (/^how to \S+ \S/i.test(name)) return `How do I ${asVerb(rest.slice("to ".length))}?`;
  if (/^getting started with \S/i.test(name)) return `How do I get started with ${others.slice(2).join(" ")}?`;
  const verb = gerunds[opening] ?? (imperatives.has(opening) ? opening : undefined);
  const isOneDeed = verb === opening ? !/^and [^a-z]/.test(rest) : !/^and\b/.test(rest);
  const isWhole = isOneDeed && !/^(?:up|out|in|on|off)$|[:,–—]/.test(rest);
  if (verb !== undefined && isWhole) return `How do I ${verb} ${rest}?`;
  return isDefined(name, text) ? `What is ${name}?` : undefined;
}

function asVerb(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function chineseQuestion(name: string, text: string): string | undefined {
  if (/^(?:如何|怎样|怎么|为什么|什么是)/.test(name)) return name.length > 4 ? `${name}？` : undefined;
  if (chineseVerbs.test(name) && name.length > 3) return `如何${name}？`;
  const opening = text.trimStart();
  return opening.startsWith(name) && /^\s*是/.test(opening.slice(name.length)) ? `什么是${name}？` : undefined;
}

/** Whether the text begins by saying what the name is, as "A span is …" and "The Collector is …" do. */
function isDefined(name: string, text: string): boolean {
  const opening = text
    .trimStart()
    .replaceAll(/[*_`]/g, "")
    .slice(0, name.length + 40)
    .toLowerCase();
  const after = opening.replace(/^(?:an?|the) /, "");
  return (
    after.startsWith(name.toLowerCase()) && /^(?: \([^)]{1,20}\))? is (?:an?|the|one) /.test(after.slice(name.length))
  );
}
