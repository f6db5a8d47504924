import { type Result, type Spread, spreadOf, timeMeasures, valuesOf } from "./result.js";
import { formatted } from "./tables.js";

/** Renders the changes since an older result as Markdown; a change counts where the ranges of the rounds do not meet. */
export function comparison(older: Result, newer: Result): string {
  const measures = { ...newer.measures, ...timeMeasures };
  const lines = newer.rows.flatMap(({ contender }) =>
    Object.entries(measures).flatMap(([measure, { better }]) => {
      const before = spreadOf(valuesOf(older, contender, measure));
      const after = spreadOf(valuesOf(newer, contender, measure));
      if (before === undefined || after === undefined) return [];
      const ratio = before.median === 0 ? "–" : `${formatted(after.median / before.median)} ×`;
      const said = verdict(before, after, better);
      return [
        `| ${[contender, measure, formatted(before.median), formatted(after.median), ratio, said].join(" | ")} |`,
      ];
    }),
  );
  const from = `${newer.benchmark}: ${older.setting.commit} against ${newer.setting.commit}`;
  return [
    from,
    "",
    "| | measure | before | now | ratio | |",
    "| --- | --- | ---: | ---: | ---: | --- |",
    ...lines,
  ].join("\n");
}

export function verdict(before: Spread, after: Spread, better: "lower" | "higher"): "better" | "worse" | "" {
  if (after.least > before.most) return better === "higher" ? "better" : "worse";
  if (after.most < before.least) return better === "higher" ? "worse" : "better";
  return "";
}
