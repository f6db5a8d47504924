import { posix } from "node:path";
import { principalCoordinates } from "../../evaluate/principal-coordinates.js";
import type { CollectionFigures } from "../../store/collection-figures.js";
import { count, counted } from "../output/figures.js";
import { displayPlace, displayUri, type KnownFolders } from "../output/terminal-text.js";
import { growthChart, histogramChart, histogramOf, mapChart } from "./charts.js";
import { reportPage, type ReportSection } from "./page.js";

export interface StatsReportInput {
  readonly location: string;
  /** Names and values, as the command prints them. */
  readonly figures: readonly (readonly [name: string, value: string])[];
  readonly collection: CollectionFigures;
  readonly folders: KnownFolders;
}

/** Maximum number of steps in the growth chart: more cannot be told apart. */
const maxGrowthSteps = 300;
const growthRows = 10;

/** Groups that have a colour of their own; the page has six. */
const maxColours = 6;

/** The figures of a store as one self-contained page. */
export function statsReport({ location, figures, collection, folders }: StatsReportInput): Promise<string> {
  const { chunkTokens, chunksOfDocuments, sample } = collection;
  return reportPage({
    title: "Collection",
    text: `The store at ${location}.`,
    sections: [
      { heading: "Figures", tables: [{ head: ["", ""], rows: figures }] },
      ...(chunkTokens.length === 0
        ? []
        : [lengths(chunkTokens), map(sample, chunkTokens.length, folders), growth(chunksOfDocuments)]),
    ],
  });
}

function lengths(chunkTokens: readonly number[]): ReportSection {
  const histogram = histogramOf(chunkTokens);
  return {
    heading: "Length of chunks",
    text: "In tokens, as counted for the embedding model.",
    charts: [histogramChart("Chunks by length", histogram, { x: "tokens", y: "chunks" })],
    folded: true,
    tables: [
      {
        head: ["Tokens", "Chunks"],
        rows: histogram.map(({ from, to, count: chunks }) => [`${count(from)} to ${count(to - 1)}`, count(chunks)]),
      },
    ],
  };
}

function map(sample: CollectionFigures["sample"], chunks: number, folders: KnownFolders): ReportSection {
  const { points, explained } = principalCoordinates(sample.map(({ vector }) => vector));
  const groups = groupsOf(
    sample.map(({ uri }) => uri),
    folders,
  );
  const shown =
    sample.length < chunks
      ? `${count(sample.length)} of ${count(chunks)} chunks, evenly chosen`
      : counted(chunks, "chunk");
  const share = explained.map((part) => `${(100 * part).toFixed(1)} %`);
  const title = "Chunks by their vectors";
  return {
    heading: "Map of the collection",
    text:
      `${shown}. Chunks whose vectors are alike lie close together. The plane is that of the two principal components, which ` +
      `hold ${share[0]} and ${share[1]} of the variance: what else tells chunks apart cannot be seen here. ` +
      "Rest the mouse on a point to see its document.",
    charts: [
      mapChart(
        title,
        `${title}: ${groups.shown.map(({ name, size }) => `${count(size)} of ${name}`).join(", ")}.`,
        points.map(([x, y], index) => {
          const { uri, line } = sample[index]!;
          return {
            x,
            y,
            label: displayPlace(uri, { ...(line !== null && { line }) }, folders),
            colour: groups.colours[index]!,
          };
        }),
      ),
    ],
    legend: groups.shown.map(({ name, colour }) => ({ label: name, colour })),
    folded: true,
    tables: [{ head: ["Folder", "Points"], rows: groups.shown.map(({ name, size }) => [name, count(size)]) }],
  };
}

interface Group {
  readonly name: string;
  readonly size: number;
  readonly colour: string;
}

/** Folders or sites with a colour each, as deep in their tree as there are colours; the smallest share one if there are too many. */
function groupsOf(uris: readonly string[], folders: KnownFolders) {
  const paths = uris.map((uri) => folderOf(uri, folders).split("/"));
  const names = (depth: number) => paths.map((path) => path.slice(0, depth).join("/"));
  const distinct = (depth: number) => new Set(names(depth)).size;
  const deepest = Math.max(...paths.map((path) => path.length));
  let common = 0;
  while (common < deepest && distinct(common + 1) === 1) common++;
  let depth = Math.min(common + 1, deepest);
  while (depth < deepest && distinct(depth + 1) <= maxColours) depth++;
  const nameOf = (path: readonly string[]) =>
    path.slice(common, depth).join("/") || paths[0]!.slice(0, common).join("/");
  const sizes = new Map<string, number>();
  for (const path of paths) sizes.set(nameOf(path), (sizes.get(nameOf(path)) ?? 0) + 1);
  const bySize = [...sizes].toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  const shown: Group[] = bySize
    .slice(0, maxColours)
    .map(([name, size], index) => ({ name, size, colour: `var(--series-${index + 1})` }));
  const colours = new Map(shown.map(({ name, colour }) => [name, colour]));
  const others = bySize.slice(maxColours).reduce((sum, [, size]) => sum + size, 0);
  if (others > 0)
    shown.push({ name: counted(bySize.length - maxColours, "other folder"), size: others, colour: otherColour });
  return { shown, colours: paths.map((path) => colours.get(nameOf(path)) ?? otherColour) };
}

const otherColour = "var(--other)";

/** The folder of a file or page, and for a row the file that it is in. */
function folderOf(uri: string, folders: KnownFolders): string {
  const [file, row] = displayUri(uri, folders).split("#") as [string, string?];
  return row === undefined ? posix.dirname(file) : file;
}

function growth(chunksOfDocuments: readonly number[]): ReportSection {
  let chunks = 0;
  const all = chunksOfDocuments.map((more, index) => ({ x: index + 1, y: (chunks += more) }));
  const documents = all.length;
  const pick = (steps: number) => {
    const size = Math.min(steps, documents);
    return Array.from({ length: size }, (_, index) => all[Math.ceil(((index + 1) * documents) / size) - 1]!);
  };
  return {
    heading: "Growth",
    text:
      "Chunks with every further document, in the order in which the store got their present chunks: a document that changed " +
      "stands where it was last written. The store keeps no times.",
    charts: [
      growthChart("Chunks by documents", [{ x: 0, y: 0 }, ...pick(maxGrowthSteps)], { x: "documents", y: "chunks" }),
    ],
    folded: true,
    tables: [{ head: ["Documents", "Chunks"], rows: pick(growthRows).map(({ x, y }) => [count(x), count(y)]) }],
  };
}
