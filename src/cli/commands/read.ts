import { given } from "../../core/given.js";
import { collect } from "../../core/stream.js";
import type { RunEvent } from "../../core/pipeline.js";
import type { Document } from "../../core/types.js";
import { clockTime } from "../../text/blocks/places.js";
import type { CommandIo } from "../command-context.js";
import { exitCodes, messageOf } from "../output/failure.js";
import { displayReason, displayRemark, displayUri, oneLine, safeForTerminal } from "../output/terminal-text.js";
import { sourceOf, type SourceFlags } from "../settings/source-flags.js";

export interface ReadFlags extends Pick<SourceFlags, "ocr" | "allowPrivate" | "rows"> {
  readonly as?: "markdown" | "json";
}

type LeftOutPart = Extract<RunEvent, { type: "left-out" }>;

/** Documents of a path, and its files that became none. */
interface Reading {
  readonly documents: readonly Document[];
  readonly leftOut: readonly LeftOutPart[];
  readonly warnings: readonly string[];
  readonly skipped: readonly { readonly uri: string; readonly reason: string }[];
  readonly failed: readonly { readonly uri: string; readonly reason: string }[];
}

/** Characters of a margin that names the place of a line in its source. */
const marginWidth = 11;

export async function readCommand(io: CommandIo, path: string, flags: ReadFlags): Promise<number> {
  const reading = await read(io, path, flags);
  if (flags.as === "json") io.stdout.write(`${JSON.stringify(asJson(reading))}\n`);
  else if (flags.as === "markdown") {
    io.stdout.write(safeForTerminal(reading.documents.map(({ text }) => `${text.trimEnd()}\n`).join("\n")));
    io.notes.write(remarks(reading, io));
  } else io.stdout.write(safeForTerminal(forPeople(reading, io)));
  return reading.failed.length > 0 ? exitCodes.failures : exitCodes.done;
}

async function read(io: CommandIo, path: string, { ocr, allowPrivate, rows }: ReadFlags): Promise<Reading> {
  const leftOut: LeftOutPart[] = [];
  const warnings: string[] = [];
  const skipped: { uri: string; reason: string }[] = [];
  const failures = new Map<string, Error>();
  const report = (event: RunEvent) => {
    if (event.type === "left-out") leftOut.push(event);
    else if (event.type === "warning") warnings.push(event.message);
    else if (event.type === "skipped") skipped.push({ uri: event.uri, reason: event.reason });
  };
  const source = sourceOf(io, [path], given({ ocr, allowPrivate, rows }));
  const documents = await collect(source.read({ signal: io.signal, report, failures }));
  const failed = [...failures].map(([uri, error]) => ({ uri, reason: messageOf(error) }));
  return { documents, leftOut, warnings, skipped, failed };
}

function asJson({ documents, leftOut, ...others }: Reading): object {
  return {
    documents: documents.map((document) => ({
      ...document,
      leftOut: leftOut
        .filter(({ uri }) => uri === document.uri)
        .map(({ what, count, example }) => ({ what, count, example })),
    })),
    ...others,
  };
}

function forPeople(reading: Reading, io: CommandIo): string {
  const texts = reading.documents.map((document) => {
    const { uri, title, metadata = {} } = document;
    const facts = Object.entries(metadata).map(([name, value]) => `${name}: ${oneLine(JSON.stringify(value), 100)}`);
    const head = [
      `── ${displayUri(uri, io)}`,
      ...(title === undefined ? [] : [`title: ${oneLine(title, 200)}`]),
      ...facts,
    ];
    return `${head.join("\n")}\n\n${withMargin(document)}\n`;
  });
  return [...texts, remarks(reading, io)].filter((part) => part !== "").join("\n");
}

/** The text with the page, line or time of its source before each line where that changes. */
function withMargin({ text, anchors = [] }: Document): string {
  let start = 0;
  let next = 0;
  let place = "";
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      let shown = "";
      for (; next < anchors.length && anchors[next]!.start <= start + line.length; next++) {
        const { page, line: number, seconds } = anchors[next]!;
        const found =
          page !== undefined
            ? `page ${page}`
            : number !== undefined
              ? `line ${number}`
              : seconds === undefined
                ? ""
                : clockTime(seconds);
        if (found !== "" && found !== place) shown = place = found;
      }
      start += line.length + 1;
      return anchors.length === 0 ? line : `${shown.padEnd(marginWidth)}${line}`.trimEnd();
    })
    .join("\n");
}

/** Lines that name all that is missing in the texts, each with the reason. */
function remarks({ leftOut, warnings, skipped, failed }: Reading, io: CommandIo): string {
  const lines = [
    ...leftOut.map(
      ({ uri, what, count, example }) =>
        `Left out of ${displayUri(uri, io)}: ${count} ${what}, such as "${oneLine(example, 60)}"`,
    ),
    ...warnings.map((message) => `Remark: ${displayRemark(message, io)}`),
    ...skipped.map(({ uri, reason }) => `Skipped: ${displayReason(uri, reason, io)}`),
    ...failed.map(({ uri, reason }) => `Failed: ${displayReason(uri, reason, io)}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}
