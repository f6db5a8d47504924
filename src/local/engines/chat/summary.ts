const asksForSummary =
  /^(?:(?:please|can you|could you|would you|tell me|give me|write|请|帮我|给我|briefly) ?)*(?:(?:an? |the )?(?:\w+ )?(?:summar(?:i[sz]e|y)|overview|(?:key|main) points?)\b|sum up\b|tl;?dr\b|what (?:is|are|does|do) (?:this|these|the) (?:\w+ )?(?:about|say)\b|总结|概括|概述|归纳|简述)/i;
/** Words of such a request that name no subject. */
const generalWords =
  /\b(?:of|on|about|the|this|these|that|those|it|all|everything|above|below|following|given|please|briefly|shortly|for me|main points?|key points?|in (?:\w+ )?(?:\w+ )?(?:words?|sentences?|points?|paragraphs?|lines?|short)|documents?|docs|texts?|files?|pages?|articles?|sources?|passages?|content|contents|information|context)\b|一下|这些?|那些?|以上|以下|上述|内容|资料|文档|文章|文本|全文|的|吧|请/gi;

/** The subject of a request for a summary, empty for one of everything; `undefined` for any other request. */
export function summarySubject(question: string): string | undefined {
  const asked = asksForSummary.exec(question.trim());
  if (asked === null) return undefined;
  const rest = question.trim().slice(asked[0].length);
  return rest
    .replace(generalWords, " ")
    .replace(/[\s.,:;!?，。：；！？]+/g, " ")
    .trim();
}

/** Shorter texts are subjects rather than what is to be summarised, in UTF-16 units. */
const minTextLength = 80;

/** A request for a summary of the text that stands behind it, as in `Summarise: …`. */
export function summaryOfText(message: string): { readonly request: string; readonly text: string } | undefined {
  const [, request = "", text = ""] = /^\s*([^\n:：]{1,80})(?:[:：]|\n)\s*([\s\S]+)$/.exec(message) ?? [];
  return text.length >= minTextLength && summarySubject(request) !== undefined ? { request, text } : undefined;
}
