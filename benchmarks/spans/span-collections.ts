import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Span } from "../../src/core/types.js";

export interface SpanCollection {
  readonly name: string;
  /** Texts of the documents by uri. */
  readonly texts: ReadonlyMap<string, string>;
  readonly questions: readonly SpanQuestion[];
}

export interface SpanQuestion {
  readonly text: string;
  /** The text of the answer, and its places in the documents. */
  readonly uri: string;
  readonly answers: readonly Span[];
}

/** Long articles with the spans of their answers, in the format of `squad`. */
export function articleCollection(folder: string): SpanCollection {
  const questions = textsById(join(folder, "queries.jsonl"));
  const spans = lines<{ _id: string; article: string; answers: [number, number][] }>(join(folder, "spans.jsonl"));
  return {
    name: "SQuAD, whole articles",
    texts: textsById(join(folder, "articles.jsonl")),
    questions: spans.map(({ _id, article, answers }) => ({
      text: questions.get(_id)!,
      uri: article,
      answers: answers.map(([start, end]) => ({ start, end })),
    })),
  };
}

/** Paragraphs that contain answers, joined by blank lines to long texts of `paragraphs` each. */
export function joinedCollection(folder: string, paragraphs: number): SpanCollection {
  const corpus = lines<{ _id: string; text: string }>(join(folder, "corpus.jsonl"));
  const queries = textsById(join(folder, "queries.jsonl"));
  const answers = lines<{ _id: string; answers: string[] }>(join(folder, "answers.jsonl"));
  const relevant = new Map(
    readFileSync(join(folder, "qrels", "test.tsv"), "utf8")
      .split("\n")
      .slice(1)
      .map((line) => line.split("\t") as [string, string]),
  );
  const texts = new Map<string, string>();
  const places = new Map<string, Span & { readonly uri: string }>();
  for (const [index, { _id, text }] of corpus.entries()) {
    const uri = `joined ${Math.floor(index / paragraphs)}`;
    const before = texts.has(uri) ? `${texts.get(uri)}\n\n` : "";
    places.set(_id, { uri, start: before.length, end: before.length + text.length });
    texts.set(uri, before + text);
  }
  return {
    name: `CMRC 2018, ${paragraphs} paragraphs joined to a text`,
    texts,
    questions: answers.map(({ _id, answers: wanted }) => {
      const { uri, start, end } = places.get(relevant.get(_id)!)!;
      const spans = wanted.flatMap((answer) => occurrences(texts.get(uri)!, answer, start, end));
      return { text: queries.get(_id)!, uri, answers: spans };
    }),
  };
}

function occurrences(text: string, wanted: string, start: number, end: number): Span[] {
  const found: Span[] = [];
  for (let at = text.indexOf(wanted, start); at >= 0 && at + wanted.length <= end; at = text.indexOf(wanted, at + 1)) {
    found.push({ start: at, end: at + wanted.length });
  }
  return found;
}

function textsById(path: string): Map<string, string> {
  return new Map(lines<{ _id: string; text: string }>(path).map(({ _id, text }) => [_id, text]));
}

function lines<Line>(path: string): Line[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
