import { coveredShare, readQuestion } from "../question/question-reading.js";
import { announces, isSentence, type Statement } from "./statements.js";

const maxStatements = 3;
/** A source that holds less of the subject is on something else. */
const minCoverage = 0.5;

/** The statements that sum up what the sources say on a subject, or with an empty one, what they say at all. */
export function chooseSummary(subject: string, all: readonly Statement[]): readonly Statement[] {
  return leadStatements(subject === "" ? all : statementsOn(subject, all));
}

/** The statements of the source that holds most of the subject, in its headings above all. */
function statementsOn(subject: string, all: readonly Statement[]): readonly Statement[] {
  const { weights, sources } = readQuestion(subject, all);
  const ranked = [...sources]
    .map(([number, { headed, found }]) => ({
      number,
      held: coveredShare(weights, found),
      named: coveredShare(weights, headed),
    }))
    .filter(({ held }) => weights.size > 0 && held >= minCoverage)
    .toSorted((a, b) => b.held + b.named - a.held - a.named);
  return all.filter(({ source }) => source === ranked[0]?.number);
}

/** The sentences that the first sources begin with, and those that follow when there are few: a text says first what it is on. */
function leadStatements(all: readonly Statement[]): readonly Statement[] {
  const prose = all.filter((one) => one.kind === "prose" && isSentence(one.text) && !announces(one));
  const said = prose.length > 0 ? prose : all.filter(({ kind }) => kind !== "heading");
  const firsts = said.filter(({ source }, at) => said[at - 1]?.source !== source);
  const chosen = [...new Set([...firsts, ...said])].slice(0, maxStatements);
  return all.filter((statement) => chosen.includes(statement));
}
