import { resolve } from "node:path";
import { OptionsError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import { type PassageQuestion, readPassageQuestions } from "../../evaluate/evaluate-passages.js";
import { isSameStore } from "../../tuning/candidate-settings.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import type { SearchMode } from "../../stages/retrieval/search.js";
import { describeSettings } from "../../tuning/candidate-settings.js";
import { makeQuestions } from "../../tuning/make-questions.js";
import { tune, type TuneProgress, type Tuning } from "../../tuning/tune.js";
import { explainStop, print, type CommandIo, type StoreFlags, withKnowledgeBase } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { count, counted } from "../output/figures.js";
import { progressLine } from "../output/progress.js";
import { writeText } from "../output/write-text.js";
import { loadVega } from "../report/draw-chart.js";
import { tuneReport } from "./tune-report.js";
import { agrees, writeSettings } from "./write-settings.js";

interface TuneFlags extends StoreFlags {
  readonly queries?: string;
  readonly chunkSizes?: readonly string[];
  readonly contextLines?: readonly ("with" | "without")[];
  readonly embeddingModels?: readonly string[];
  readonly modelFolders?: readonly string[];
  readonly rerankModels?: readonly string[];
  readonly modes?: readonly string[];
  readonly candidates?: readonly string[];
  readonly passages?: readonly string[];
  readonly alwaysRerank?: boolean;
  readonly maxSettings?: number;
  readonly seed?: number;
  readonly minutes?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly rerankPrice?: number;
  readonly work?: string;
  readonly report?: string;
  readonly yes?: boolean;
}

/** Questions that are made where none are named: half of them choose. */
const madeQuestions = 240;

export async function tuneCommand(io: CommandIo, flags: TuneFlags): Promise<number> {
  if (flags.report !== undefined) await loadVega();
  const workPath = resolve(io.directory, flags.work ?? ".citewell-tune");
  const stopped = `Stopped; what was embedded and measured is kept in ${workPath}. Run the same command again.\n`;
  return explainStop(
    io,
    stopped,
    withKnowledgeBase(io, flags, false, async (kb, settings) => {
      const questions = await questionsFor(io, kb, flags);
      const line = progressLine(
        io.notes,
        ({ settings: tried, searches, tokens }: TuneProgress) =>
          `${counted(searches, "search", "searches")}, ${counted(tokens, "token")}: ${describeSettings(tried)}`,
      );
      const result = await tune(kb, {
        questions,
        ...given({
          present: settings.retrieval,
          chunkSizes: numbers("--chunk-sizes", flags.chunkSizes),
          contextLines: flags.contextLines?.map((which) => which === "with"),
          rerankModels: flags.rerankModels,
          rerankPrice: flags.rerankPrice,
          modes: flags.modes as readonly SearchMode[] | undefined,
          candidates: numbers("--candidates", flags.candidates),
          passages: numbers("--passages", flags.passages),
          maxSettings: flags.maxSettings,
          seed: flags.seed,
          maxMinutes: flags.minutes,
          maxTokens: flags.maxTokens,
          maxCost: flags.maxCost,
          price: settings.price,
        }),
        embeddingModels: [
          ...(flags.embeddingModels ?? []),
          ...(flags.modelFolders ?? []).map((folder) => ({ folder: resolve(io.directory, folder) })),
        ],
        withoutRerank: flags.alwaysRerank !== true,
        workPath,
        signal: io.signal,
        onProgress: (progress) => line.update(progress),
      }).finally(() => line.clear());
      if (flags.report !== undefined) await writeText(resolve(io.directory, flags.report), await tuneReport(result));
      const written = result.clearlyBetter && (await offered(io, flags, result));
      print(io, flags, { ...result, written: written ? configPath(io, flags) : undefined }, describe(result, written));
      return exitCodes.done;
    }),
  );
}

async function questionsFor(io: CommandIo, kb: KnowledgeBase, flags: TuneFlags): Promise<readonly PassageQuestion[]> {
  if (flags.queries !== undefined) return readPassageQuestions(resolve(io.directory, flags.queries), io.signal);
  io.notes.write(
    "No --queries: questions are made from headings and sentences, which is weaker. See citewell eval make.\n",
  );
  const made = await makeQuestions(kb, { count: madeQuestions, signal: io.signal, ...given({ seed: flags.seed }) });
  return made.questions;
}

function configPath(io: CommandIo, { config = "citewell.config.json" }: TuneFlags): string {
  return resolve(io.directory, config);
}

async function offered(io: CommandIo, flags: TuneFlags, { best }: Tuning): Promise<boolean> {
  const path = configPath(io, flags);
  const asked = `Write ${describeSettings(best)} into ${path}?`;
  if (!flags.yes && (flags.json || !(await agrees(io, asked)))) return false;
  await writeSettings(path, best);
  return true;
}

function numbers(flag: string, words: readonly string[] | undefined): readonly number[] | undefined {
  return words?.map((word) => {
    if (/^[1-9]\d{0,5}$/.test(word)) return Number(word);
    throw new OptionsError("options", `${flag} takes whole numbers from 1 on, and not ${JSON.stringify(word)}`);
  });
}

function describe(result: Tuning, written: boolean): string {
  const { present, best, clearlyBetter, change, heldBack, questions, tried, tokens, cost, stopped } = result;
  const rows = tried
    .slice(0, 8)
    .map(
      ({ settings, questions: asked, gain }) =>
        `  ${gain.toFixed(3)}  ${count(asked).padStart(5)}  ${describeSettings(settings)}`,
    );
  const beside =
    change && heldBack
      ? [
          `On ${counted(questions.heldBack, "question")} held back: ${heldBack.winner.toFixed(3)} instead of ${heldBack.present.toFixed(3)}, ` +
            `difference ${change.difference.toFixed(3)} (95 % ${change.interval.map((end) => end.toFixed(3)).join(" to ")}), p ${change.p.toFixed(4)}, clear below 0.05.`,
        ]
      : [];
  const needed =
    change?.queriesNeeded === undefined ? "" : ` About ${count(change.queriesNeeded)} questions held back would tell.`;
  const verdict = clearlyBetter
    ? `Better: ${describeSettings(best)}.`
    : `Nothing is clearly better than what is there: ${describeSettings(present)}.${needed}`;
  const next = !clearlyBetter
    ? []
    : !written
      ? ["Nothing was written: run again with --yes, or write chunk and retrieval of --json into citewell.config.json."]
      : isSameStore(best, present)
        ? ["Written into the settings file."]
        : [
            "Written into the settings file. Run citewell migrate: it rebuilds the store by them, and the old one serves meanwhile.",
          ];
  return `${[
    "Gain (0 to 1: how early the passages that answer are met), questions, settings:",
    ...rows,
    "",
    ...beside,
    verdict,
    ...(tokens > 0
      ? [
          `${counted(tokens, "token")} of embeddings and reranking${cost === undefined ? "" : `, cost ${cost.toFixed(4)}`}.`,
        ]
      : []),
    ...(stopped === undefined ? [] : [`Ended early: ${stopped}. Run again with a larger budget to go on.`]),
    ...next,
  ].join("\n")}\n`;
}
