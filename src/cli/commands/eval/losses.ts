import { html } from "hono/html";
import type { Loss, Losses } from "../../../evaluate/explain-losses.js";
import type { KindOfAnswers } from "../../../evaluate/evaluate-passages.js";
import { type LossKind, lossKinds } from "../../../evaluate/losses.js";
import { counted } from "../../output/figures.js";
import { intervalChart } from "../../report/charts.js";
import { reportPage, type ReportSection } from "../../report/page.js";

/** Each kind of loss in words for people. */
export const lossNames: Readonly<Record<LossKind, string>> = {
  "not-indexed": "not in the store",
  "below-cut": "below the cut of the search",
  fusion: "put down by the fusion",
  step: "lost by another step",
  rerank: "put down by the reranker",
  prompt: "left out of the prompt",
  declined: "in the prompt, and declined",
  "not-cited": "in the prompt, and not cited",
  misread: "cited with other words",
  invented: "answered without a passage",
};

/** Examples of a kind that a page has: enough to see what they have in common. */
const shownExamples = 10;

/** Lines of the counts by kind, each with an example. */
export function describeLosses({ answers, losses, counts }: Losses): string {
  if (losses.length === 0) return "No passage was lost.";
  const lines = lossKinds
    .filter((kind) => counts[kind] > 0)
    .flatMap((kind) => {
      const { question, detail } = losses.find((loss) => loss.kind === kind)!;
      return [
        `${lossNames[kind].padEnd(30)}${String(counts[kind]).padStart(5)}`,
        `  such as ${question.id}: ${question.text}`,
        `  ${detail}`,
      ];
    });
  return [`Where the passages of ${losses.length} of ${counted(answers, "answer")} were lost:`, "", ...lines].join(
    "\n",
  );
}

/** Answers to questions with known passages as a page: shares by kind, and where passages were lost, with examples. */
export function passagesReport(folder: string, kinds: readonly KindOfAnswers[], losses: Losses): Promise<string> {
  const questions = kinds.reduce((sum, kind) => sum + kind.questions, 0);
  return reportPage({
    title: `Answers on ${folder}`,
    text: `${counted(questions, "question")}. Right: every expected passage is cited, or the question is declined where there is none.`,
    sections: [
      {
        heading: "Right answers by kind of question",
        charts: [
          intervalChart(
            "Right",
            kinds.map(({ kind, right, interval }) => ({ name: kind, mean: right, interval })),
          ),
        ],
        tables: [
          {
            head: ["Kind", "questions", "right", "95 % interval", "declined"],
            rows: kinds.map(({ kind, questions: asked, right, interval, declined }) => [
              kind,
              String(asked),
              right.toFixed(3),
              interval.map((end) => end.toFixed(3)).join(" to "),
              declined.toFixed(3),
            ]),
          },
        ],
      },
      lossesSection(losses),
    ],
  });
}

/** Counts by the step that lost a passage; the examples of each open on a click. */
export function lossesSection({ answers, losses, counts }: Losses): ReportSection {
  const examples = (kind: LossKind) => {
    const shown = losses.filter((loss) => loss.kind === kind).slice(0, shownExamples);
    return html`<details>
      <summary>${counted(shown.length, "example")}</summary>
      ${shown.map(drawExample)}
    </details>`;
  };
  return {
    heading: "Where passages were lost",
    text: `${losses.length} of ${counted(answers, "answer")} are wrong. Each counts for the first step that lost a passage it needed.`,
    tables: [
      {
        head: ["Step", "answers", "examples"],
        rows: lossKinds
          .filter((kind) => counts[kind] > 0)
          .map((kind) => [lossNames[kind], String(counts[kind]), examples(kind)]),
      },
    ],
  };
}

function drawExample({ question, place, detail }: Loss) {
  const expected = place ? html`<br />expected: “${place.quote}”, ${place.uri}` : "";
  return html`<p>${question.text} <small>${question.id}</small>${expected}<br />${detail}</p>`;
}
