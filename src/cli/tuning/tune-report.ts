import { describeSettings } from "../../tuning/candidate-settings.js";
import type { Tuning } from "../../tuning/tune.js";
import { intervalChart } from "../report/charts.js";
import { reportPage } from "../report/page.js";

/** A tuning as one self-contained page: the best settings beside those in use, and all that were tried. */
export function tuneReport({
  present,
  best,
  clearlyBetter,
  change,
  heldBack,
  questions,
  tried,
}: Tuning): Promise<string> {
  const verdict = clearlyBetter
    ? `Better than what is in use: ${describeSettings(best)}.`
    : `Nothing is clearly better than what is in use: ${describeSettings(present)}.`;
  return reportPage({
    title: "Settings of search",
    text: `${verdict} ${questions.choosing} questions chose, ${questions.heldBack} others were held back. Gain: how early the passages that answer are met, 0 to 1.`,
    sections: [
      ...(change && heldBack
        ? [
            {
              heading: "On the questions held back",
              charts: [
                intervalChart("Difference to the settings in use", [
                  { name: "gain", mean: change.difference, interval: change.interval },
                ]),
              ],
              tables: [
                {
                  head: ["", "gain"],
                  rows: [
                    [`in use: ${describeSettings(present)}`, heldBack.present.toFixed(3)],
                    [`chosen: ${describeSettings(best)}`, heldBack.winner.toFixed(3)],
                    ["difference", `${change.difference.toFixed(3)} (p ${change.p.toFixed(4)}, clear below 0.05)`],
                  ],
                },
              ],
            },
          ]
        : []),
      {
        heading: "What was tried",
        text: "The better half of each round was measured on twice as many questions.",
        tables: [
          {
            head: ["Settings", "questions", "gain"],
            rows: tried.map(({ settings, questions: asked, gain }) => [
              describeSettings(settings),
              String(asked),
              gain.toFixed(3),
            ]),
          },
        ],
      },
    ],
  });
}
