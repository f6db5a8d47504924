/** The definition that a question like "What is X?" asks for, and how far a sentence gives it. */
export interface Definition {
  readonly subject: string;
  /** Names under which a page may define it: the subject, and without what limits it, `span` for "span in OpenTelemetry". */
  readonly names: readonly string[];
  /** 1 for "X is a …", less for looser forms, 0 for a sentence that says something else. The sentence is plain text. */
  readonly strength: (sentence: string) => number;
  /** Whether a text of many sentences defines the subject outright. */
  readonly foundIn: (text: string) => boolean;
}

/** A longer subject is a question of another kind. */
const maxWords = 6;

const forms = [
  /^\s*what(?: is|'s|’s| are)\s+(?:an? |the )?([^?]{1,60}?)(?: (?:used )?for(?: in [^?]{1,30})?)?\s*\?*\s*$/i,
  /^\s*what (?:do|does)\s+(?:an? |the )?([^?]{1,60}?) (?:mean|do|offer|provide|stand for|refer to|describe)\s*\?*\s*$/i,
  /^\s*(?:define|explain)\s+(?:an? |the )?([^?.]{1,60}?)\s*[?.]*\s*$/i,
  /^\s*(?:请问)?什么是\s*([^?？]{1,30}?)\s*[?？]*\s*$/,
  /^\s*(?:请问)?([^?？]{1,30}?)\s*(?:是|指的是|代表|表示)什么(?:意思)?\s*[?？]*\s*$/,
  /^\s*(?:请问)?([^?？]{1,30}?)\s*(?:有(?:什么|何|哪些)(?:作用|用途|功能)|(?:是)?(?:做|干)什么的?|的(?:作用|用途)是什么)\s*[?？]*\s*$/,
];

/** Verbs that state a definition. */
const outright =
  "(?:is|are|was|were)\\s+(?:an?|the|one|any|where|when|what|how)\\b|(?:is|are|was|were|can be|will be)\\s+used\\s+(?:to|for|as)\\b|(?:refers? to|means?|represents?|denotes?|stands? for|describes?)\\b|是指|指的是|指|是一[个种项组类段条份套些]|是由|是[^，。是]{2,60}的(?:过程|机制|技术)|代表|表示|即";
/** Verbs that may state one. */
const loose =
  "(?:is|are|was|were)\\s+(?!not\\b|also\\b|only\\b|now\\b|often\\b|useful\\b|best\\b|like\\b|available\\b|required\\b|recommended\\b|in\\b|\\w+ed\\b)|(?:gives?|provides?|offers?|allows?|enables?|tracks?|records?|lets?|helps?)\\b|是(?!否)|为|允许|提供";

/** The definition that a question asks for; `undefined` when it asks for something else. */
export function definitionOf(question: string): Definition | undefined {
  const subject = forms.map((form) => form.exec(question)?.[1]?.trim()).find((found) => found !== undefined);
  if (subject === undefined || subject === "" || subject.split(/\s+/).length > maxWords) return undefined;
  // "What is propagation in PHP?": a page on PHP defines it without naming PHP.
  const thing = subject
    .replace(/^(.+?)(?: (?:used )?for)? (?:in|for|from|with|within) .+$/i, "$1")
    .replace(/^[^中里]{1,20}[中里]的?(?=.{2})/u, "");
  const [, head = thing, owner] = /^(.+?) of (.+)$/i.exec(thing) ?? [];
  const belongs = owner === undefined ? "" : `(?: of ${literal(owner)})?`;
  // "Sign in with Apple" and "消息中间件" are names as they are.
  const names = `(?:${literal(subject)}|${literal(head)}${belongs})`;
  const named = `(?:[“"「*\`_]*)${names}(?:[”"」*\`_]*)(?:\\s*(?:\\([^)]{0,60}\\)|（[^）]{0,60}）|,[^,.]{1,60},))?\\s*`;
  const opening = "(?:(?:an?|the|in [^,.]{1,40}, (?:an?|the)?)\\s*|在[^，。]{1,40}[，,]\\s*|一[个种]\\s*)?";
  // A line of a glossary, an item of a list or a row of a table has a mark behind what it explains.
  const starts = new RegExp(`^[|\\s]*${opening}${named}(?:(?<outright>${outright}|[:：—–|])|(?:${loose}))`, "i");
  const anywhere = new RegExp(`(?:^|[.。!！]\\s*)[>*\\s-]*${opening}${named}(?:${outright})`, "im");
  const aside = new RegExp(`\\b(?:an?|the)\\s+${named},?\\s*(?:which|that)\\s+(?:is|are|acts?|serves?|works?)\\b`, "i");
  return {
    subject,
    names: [...new Set([subject, thing])],
    strength: (sentence) => {
      const found = starts.exec(sentence);
      if (found === null) return aside.test(sentence) ? 0.5 : 0;
      return found.groups?.["outright"] === undefined ? 0.5 : 1;
    },
    foundIn: (text) => anywhere.test(text),
  };
}

/** The subject in either number. */
function literal(subject: string): string {
  const stem = /[a-z]s$/i.test(subject) && !/ss$/i.test(subject) ? subject.slice(0, -1) : subject;
  const escaped = stem.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/\s+/g, String.raw`\s+`);
  return /[a-z]$/i.test(stem) ? `${escaped}s?` : escaped;
}
