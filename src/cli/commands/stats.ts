import { resolve } from "node:path";
import { given } from "../../core/given.js";
import type { StoreCounts } from "../../core/ports.js";
import { type ChunkSettings, keptSettings } from "../../knowledge-base/ingest/settings.js";
import { type CollectionFigures, collectionFigures } from "../../store/collection-figures.js";
import { isDatabaseAddress } from "../../store/store-address.js";
import { diskUse, type DiskUse } from "../../store/disk-use.js";
import { storedLatentModel, storedQuantization } from "../../store/stored-space.js";
import {
  print,
  readSettings,
  storePath,
  withKnowledgeBase,
  type CommandIo,
  type StoreFlags,
} from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { bytes, count, graphOf } from "../output/figures.js";
import { writeText } from "../output/write-text.js";

interface Stats extends StoreCounts {
  /** Length of the vectors; undefined while there is none. */
  readonly dimension: number | undefined;
  /** Vector space: the model that made the vectors. */
  readonly space: string;
  /** Chunk settings, as far as they were given. */
  readonly chunk: ChunkSettings;
  /** Vector format of the saved graph. Absent when none is saved, and for a database. */
  readonly quantization?: "none" | "int8" | "int4";
  /** The model of the store's own texts. Absent when none is saved, and for a database. */
  readonly latent?: NonNullable<ReturnType<typeof storedLatentModel>>;
  /** Absent for a database, whose server says it. */
  readonly diskBytes?: DiskUse;
}

export interface StatsFlags extends StoreFlags {
  readonly report?: string;
}

/** Points on the map of a collection: more would hide each other. */
const maxMapPoints = 2000;

export async function statsCommand(io: CommandIo, flags: StatsFlags): Promise<number> {
  const { location, ...figures } = await withKnowledgeBase(io, flags, false, async ({ store }) => {
    const { dimension, space, location: index } = store;
    return { location: index, ...(await store.counts()), dimension, space, chunk: keptSettings(store).chunk };
  });
  // Measured once the store is closed: the log of an open database would count too.
  const place = storePath(io, readSettings(io, flags));
  const stats = {
    ...figures,
    ...(!isDatabaseAddress(place) &&
      given({
        quantization: storedQuantization(place),
        latent: storedLatentModel(place),
        diskBytes: diskUse(place),
      })),
  };
  const described = describe(stats);
  if (flags.report !== undefined) {
    const { statsReport } = await import("../report/stats-report.js");
    const collection = await collectionAt(place);
    const page = await statsReport({ location, figures: described, collection, folders: io });
    await writeText(resolve(io.directory, flags.report), page);
  }
  print(io, flags, stats, described.map(([name, value]) => `${name.padEnd(12)}${value}\n`).join(""));
  return exitCodes.done;
}

async function collectionAt(place: string): Promise<CollectionFigures> {
  if (!isDatabaseAddress(place)) return collectionFigures(place, maxMapPoints);
  const { databaseFigures } = await import("../../store/postgres/database-figures.js");
  return databaseFigures(place, maxMapPoints);
}

const settingNames = {
  strategy: "strategy",
  maxTokens: "maximum tokens",
  overlapTokens: "overlap tokens",
  parentTokens: "parent tokens",
  contextLine: "context lines",
} as const satisfies Record<keyof ChunkSettings, string>;

function describe({
  documents,
  chunks,
  vectors,
  dimension,
  space,
  chunk,
  quantization,
  latent,
  diskBytes,
}: Stats): [name: string, value: string][] {
  const settings = Object.entries(chunk).map(
    ([name, value]) => `${settingNames[name as keyof ChunkSettings]} ${value}`,
  );
  return [
    ["Documents", count(documents)],
    ["Chunks", count(chunks)],
    ["Vectors", `${count(vectors)}${dimension === undefined ? "" : ` of ${count(dimension)} dimensions`}`],
    ["Embeddings", space],
    ["Cut by", settings.length > 0 ? settings.join(", ") : "the default settings"],
    ...(quantization ? [["Graph", graphOf[quantization]] satisfies [string, string]] : []),
    ...(latent ? [["Latent", describeLatent(latent)] satisfies [string, string]] : []),
    ...(diskBytes ? [["On disk", describeDisk(diskBytes)] satisfies [string, string]] : []),
  ];
}

function describeLatent({ trainedOn, explained, shareOfWords, weight, used }: NonNullable<Stats["latent"]>): string {
  const model = `model trained at ${count(trainedOn)} chunks, explains ${percent(explained)} of the variance of a sample`;
  if (shareOfWords === undefined) return used ? model : `${model}: its texts tell nothing of it, so it is not used`;
  const measured = `answers questions made of its texts ${percent(shareOfWords)} as well as their words do`;
  return `${model}, ${measured}: ${used ? `weight ${weight!.toFixed(2)}` : "too badly to be used"}`;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

function describeDisk({ database, indexes, conversations, otherGenerations, total }: DiskUse): string {
  const parts = [
    `database ${bytes(database)}`,
    `search indexes ${bytes(indexes)}`,
    `conversations ${bytes(conversations)}`,
    ...(otherGenerations > 0 ? [`stores of migrations ${bytes(otherGenerations)}`] : []),
  ];
  return `${bytes(total)}: ${parts.join(", ")}`;
}
