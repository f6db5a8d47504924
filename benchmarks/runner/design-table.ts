import { design, type StatedAim } from "../aims.js";
import { aimValue, isMet, type Result } from "./result.js";
import { described, formatted } from "./tables.js";

interface Judged {
  readonly benchmark: string;
  readonly aim: StatedAim;
  /** `undefined` where it was not measured. */
  readonly value: number | undefined;
}

/** The figures that the design promises as a Markdown table, and under it what each miss comes from. */
export function designMarkdown(results: ReadonlyMap<string, Result>): string {
  const rows = design.flatMap(({ what, aims }) =>
    judged(aims, results).map(({ benchmark, aim, value }, at) => {
      const measured = value === undefined ? "–" : formatted(value);
      const name = at === 0 ? what : "";
      return `| ${[name, `[${benchmark}](#${benchmark})`, described(aim), measured, verdict(aim, value)].join(" | ")} |`;
    }),
  );
  const reasons = design.flatMap(({ aims }) =>
    judged(aims, results).flatMap(({ benchmark, aim, value }) =>
      isMissed(aim, value) ? [`- ${benchmark}, ${described(aim)}: ${aim.reason ?? "nobody has said why."}`] : [],
    ),
  );
  return [
    ["| promised | benchmark | aim | measured | |", "| --- | --- | --- | ---: | --- |", ...rows].join("\n"),
    ...(reasons.length > 0 ? [`Where an aim is missed:\n\n${[...new Set(reasons)].join("\n")}`] : []),
  ].join("\n\n");
}

/** The aims of the design that results miss without a reason in `aims.ts`. */
export function unexplained(results: ReadonlyMap<string, Result>): readonly string[] {
  return design
    .flatMap(({ aims }) => judged(aims, results))
    .filter(({ aim, value }) => isMissed(aim, value) && aim.reason === undefined)
    .map(({ benchmark, aim }) => `${benchmark}: ${described(aim)}`);
}

function judged(aims: Readonly<Record<string, readonly StatedAim[]>>, results: ReadonlyMap<string, Result>): Judged[] {
  return Object.entries(aims).flatMap(([benchmark, each]) =>
    each.map((aim) => {
      const result = results.get(benchmark);
      return { benchmark, aim, value: result && aimValue(result, aim) };
    }),
  );
}

const isMissed = (aim: StatedAim, value: number | undefined) => value !== undefined && !isMet(aim, value);

function verdict(aim: StatedAim, value: number | undefined): string {
  if (value === undefined) return "not measured";
  if (isMissed(aim, value)) return "**missed**";
  return aim.reason === undefined ? "met" : "met: the reason for a miss in `aims.ts` is obsolete";
}
