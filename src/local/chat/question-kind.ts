import { terms } from "../../text/terms.js";
import { rarity } from "../rarity.js";

/** Something that an answer to a question would have in it. */
export interface WantedKind {
  readonly has: RegExp;
  /** Terms with which the question names the kind: what is of the kind need not say so. */
  readonly named: ReadonlySet<string>;
}

const asksForVariable = /environment variable|\benv(?:ironment)? ?vars?\b|环境变量/i;
const variable = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/** What an answer to the question would have in it. */
const kinds: readonly { readonly asks: RegExp; readonly has: RegExp }[] = [
  { asks: asksForVariable, has: new RegExp(variable.source) },
  { asks: /\bdefaults?\b|默认|缺省/i, has: /\bdefaults?\b.*(?:\d|`|")|(?:\d|`|").*\bdefaults?\b|默认|缺省/i },
  {
    asks: /\bhow (?:many|much|long|often|old|far|large|big|tall)\b|多少|几[个次年天种人]|多[长久大远高]/i,
    has: /\d|[一二三四五六七八九十百千万两]+[个次年天种人名座]/,
  },
  {
    asks: /\bwhen\b|\b(?:what|which) (?:year|date|day|month|century)\b|何时|什么时候|哪[一]?年|哪[一]?天|时间/i,
    has: /\b\d{3,4}\b|\d{1,2} ?[年月日]|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b/i,
  },
  { asks: /\bport\b|端口/i, has: /\b\d{2,5}\b/ },
  {
    asks: /\bcommand\b|\binstall\b|命令|安装/i,
    has: /`[^`]+`|^(?:npm|pip|go|docker|kubectl|helm|apt|brew|cargo|dotnet|composer|gem|curl|git)\b/m,
  },
  { asks: /^who\b|谁/i, has: /\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+|·/u },
];

/** Whether lines of code may answer the question. */
export function asksForCode(question: string): boolean {
  return codeQuestion.test(question);
}

const codeQuestion =
  /\b(?:code|command|run|install|example|snippet|how (?:do|can|to))\b|命令|代码|安装|示例|如何|怎么/i;

/** How a sentence begins that defines what the question asks for; `undefined` when it asks for no definition. */
export function definitionOf(question: string): RegExp | undefined {
  const subject = (/^\s*what(?: is|'s| are) (?:an? |the )?([^?]{1,60}?)\s*\?*\s*$/i.exec(question) ??
    /^\s*什么是\s*([^?？]{1,30}?)\s*[?？]*\s*$/.exec(question) ??
    /^\s*([^?？]{1,30}?)\s*是(?:什么|指什么)(?:意思)?\s*[?？]*\s*$/.exec(question))?.[1];
  if (subject === undefined) return undefined;
  const literal = subject.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(
    `^(?:an? |the )?[\`*_"“「]?${literal}[\`*_"”」]?\\s*(?:\\([^)]*\\)|（[^）]*）)?\\s*(?:is|are|was|were|refers|means|represents|是|指|表示|代表|为)`,
    "i",
  );
}

export function namesVariable(question: string, text: string): boolean {
  if (!asksForVariable.test(question)) return false;
  const asked = new Set(terms(question));
  const variables = text.match(variable) ?? [];
  return variables.some((name) => terms(name).some((term) => asked.has(term) && rarity(term) >= 0.9));
}

/** The kinds that a question asks for. */
export function wantedKinds(question: string): readonly WantedKind[] {
  return kinds.flatMap(({ asks, has }) => {
    const named = asks.exec(question)?.[0];
    return named === undefined ? [] : [{ has, named: new Set(terms(named)) }];
  });
}
