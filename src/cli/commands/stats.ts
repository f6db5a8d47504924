import { resolve } from "node:path";
import { given } from "../../core/given.js";
import type { StoreCounts } from "../../core/ports.js";
import { type ChunkSettings, keptSettings } from "../../knowledge-base/ingest/settings.js";
import { type CollectionFigures, collectionFigures } from "../../store/collection-figures.js";
import { databaseAddresses, isDatabaseAddress } from "../../store/open-store-at.js";
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
  /** What made the vectors. */
  readonly space: string;
  /** How documents are cut, as far as somebody said. */
  readonly chunk: ChunkSettings;
  /** How the saved graph keeps vectors. Absent where none is saved, and for a database. */
  readonly quantization?: "none" | "int8" | "int4";
  /** The model of the store's own texts. Absent where none is saved, and for a database. */
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
    const { dimension, space, location: at } = store;
    return { location: at, ...(await store.counts()), dimension, space, chunk: keptSettings(store).chunk };
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
    const { statsReport } = await import("./stats-report.js");
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
  return databaseFigures(databaseAddresses(place), maxMapPoints);
}

const settingNames = {
  strategy: "strategy",
  maxTokens: "maximum tokens",
  overlapTokens: "overlap tokens",
  parentTokens: "parent tokens",
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

function describeLatent({ trainedOn, explained, used }: NonNullable<Stats["latent"]>): string {
  const share = `${Math.round(100 * explained)} % of the variance of a sample`;
  return `model trained at ${count(trainedOn)} chunks, explains ${share}${used ? "" : ": too little to be used"}`;
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
