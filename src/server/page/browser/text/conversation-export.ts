import type { WireCitation } from "../../../api/wire.js";
import type { Words } from "../words/words.js";
import { titleOf } from "./answer-as-text.js";
import { drawFormula } from "./draw-formula.js";
import { escaped, nothingRendered, render } from "./markdown.js";

/** A question with its answer, as far as an export shows it. */
export interface ExportedExchange {
  readonly question: string;
  readonly text: string;
  readonly citations: readonly WireCitation[];
}

export interface ExportedConversation {
  readonly title: string;
  readonly exchanges: readonly ExportedExchange[];
}

function checkOf(citation: WireCitation, words: Words): string {
  return words.supportNote(citation) || words.foundInDocument;
}

function placeOf(citation: WireCitation, words: Words): string {
  const place = citation.support === "missing" ? "" : words.place(citation);
  return [titleOf(citation), place].filter(Boolean).join(", ");
}

/** A conversation as Markdown: each answer is followed by its quotations, each with its document and the result of its check. */
export function conversationAsMarkdown({ title, exchanges }: ExportedConversation, words: Words): string {
  const parts = exchanges.map(({ question, text, citations }) => {
    const sources = citations.map((citation) => {
      const { number, quote } = citation;
      const quoted = quote.split("\n").map((line) => `   > ${line}`.trimEnd());
      return [`${number}. ${placeOf(citation, words)} (${checkOf(citation, words)})`, "", ...quoted].join("\n");
    });
    return [
      `## ${question.replace(/\s+/g, " ")}`,
      text,
      ...(sources.length > 0 ? [`### ${words.sources}`, ...sources] : []),
    ].join("\n\n");
  });
  return `# ${title}\n\n${parts.join("\n\n")}\n`;
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; } pre { overflow: auto; padding: .75rem; border: 1px solid #8885; border-radius: .5rem; }
table { border-collapse: collapse; } th, td { padding: .25rem .75rem; border-bottom: 1px solid #8885; text-align: left; }
blockquote { margin: .25rem 0; padding-left: .75rem; border-left: 3px solid #8885; } .check { color: #777; font-size: .875rem; }
.doubtful { color: #b3261e; } sup a { text-decoration: none; }
`;

/** A conversation as one HTML file that needs nothing else: no script, and numbers that lead to their quotations. */
export function conversationAsHtml({ title, exchanges }: ExportedConversation, words: Words, language: string): string {
  const parts = exchanges.map(({ question, text, citations }, index) => {
    const marks = citations.map(({ number, supported }) => ({ number, label: "", isSupported: supported }));
    const answer = document.createElement("div");
    for (const { html } of render(text, marks, "", nothingRendered).blocks) {
      const block = document.createElement("div");
      block.innerHTML = html;
      answer.append(block);
    }
    for (const button of answer.querySelectorAll<HTMLElement>("button.mark")) {
      const link = document.createElement("a");
      link.href = `#source-${index}-${button.dataset["citation"]}`;
      link.textContent = `[${button.textContent}]`;
      const raised = document.createElement("sup");
      raised.append(link);
      button.replaceWith(raised);
    }
    for (const formula of answer.querySelectorAll(".formula")) {
      const drawn = drawFormula(formula.textContent);
      if (drawn) formula.replaceChildren(drawn);
    }
    for (const head of answer.querySelectorAll(".code-head")) head.remove();
    const sources = citations.map((citation, at) => {
      const check = `<span class="check${citation.supported ? "" : " doubtful"}">${escaped(checkOf(citation, words))}</span>`;
      const quote = escaped(citation.quote).replaceAll("\n", "<br>");
      return `<li id="source-${index}-${at}" value="${citation.number}">${escaped(placeOf(citation, words))} ${check}<blockquote>${quote}</blockquote></li>`;
    });
    const list = sources.length > 0 ? `<h3>${escaped(words.sources)}</h3><ol>${sources.join("")}</ol>` : "";
    return `<section><h2>${escaped(question)}</h2>${answer.innerHTML}${list}</section>`;
  });
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${style}</style></head>
<body><h1>${escaped(title)}</h1>${parts.join("\n")}</body>
</html>
`;
}
