import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { WireExcerpt } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { type Place, rowsAsked } from "../../state/source.js";
import { type DrawnSource, drawRows, drawSource } from "../../text/draw-source.js";
import { piecesOf } from "../../text/excerpt.js";
import { useCodeColours } from "../use-code-colours.js";
import { MailHead } from "./mail-head.js";

export interface ExcerptViewProps {
  readonly excerpt: WireExcerpt;
  readonly place: Pick<Place, "uri" | "start" | "end">;
  /** The whole sentence around the place; the rest of it is marked, too. */
  readonly sentence?: Pick<Place, "start" | "end"> | undefined;
}

/**
 * A part of a document with the place highlighted, which can be widened in both directions: Markdown and rows of tables as
 * they look, and the text itself of everything else, or where the place is not found in the rendering.
 */
export function ExcerptView({ excerpt, place, sentence }: ExcerptViewProps) {
  const { act, preferences, source } = usePage();
  const words = preferences.words.value;
  const { end, start } = place;
  const drawn = useMemo(() => {
    const highlight = { start, end };
    if (excerpt.rows) return drawRows({ excerpt, highlight, rowNumber: words.rowNumber });
    if (excerpt.mediaType !== "text/markdown") return undefined;
    return drawSource({ ...words, excerpt, highlight, sentence: sentence ?? highlight });
  }, [excerpt, start, end, sentence, words]);
  const language = /^text\/x-(.+)$/.exec(excerpt.mediaType ?? "")?.[1];
  const rowsAround = rowsShownAround(excerpt);
  const isCutBefore = excerpt.from > 0 || rowsAround.before;
  const isCutAfter = excerpt.from + excerpt.text.length < excerpt.length || rowsAround.behind;
  return (
    <>
      {excerpt.mail && (
        <MailHead
          mail={excerpt.mail}
          subject={excerpt.title}
          isRepeated={excerpt.from === 0 && /^(?:From|To): /.test(excerpt.text)}
        />
      )}
      {isCutBefore && (
        <button type="button" class="plain wide" onClick={() => act(source.widen())}>
          {words.showBefore}
        </button>
      )}
      {drawn ? (
        <Rendering drawn={drawn} />
      ) : language !== undefined ? (
        <div class="code-lines" tabindex={0}>
          <pre aria-hidden="true">{lineNumbers(excerpt)}</pre>
          <Text excerpt={excerpt} place={place} sentence={sentence} language={language} />
        </div>
      ) : (
        <Text excerpt={excerpt} place={place} sentence={sentence} />
      )}
      {isCutAfter && (
        <button type="button" class="plain wide" onClick={() => act(source.widen())}>
          {words.showAfter}
        </button>
      )}
    </>
  );
}

/** On which sides of a row there may be more rows than are shown: where there are as many as were asked for. */
function rowsShownAround({ uri, rows }: WireExcerpt): { readonly before: boolean; readonly behind: boolean } {
  const before = rows?.rows.findIndex((row) => row.uri === uri) ?? 0;
  const behind = rows ? rows.rows.length - before - 1 : 0;
  const isFull = (count: number) => rows !== undefined && count >= rowsAsked.first && count < rowsAsked.most;
  return { before: isFull(before), behind: isFull(behind) };
}

function lineNumbers({ fromLine, text }: WireExcerpt): string {
  const count = text.replace(/\n$/, "").split("\n").length;
  return Array.from({ length: count }, (_, index) => fromLine + index).join("\n");
}

/** A document as it looks. Links to other documents open them here. */
function Rendering({ drawn: { marks, nodes } }: { readonly drawn: DrawnSource }) {
  const { act, source } = usePage();
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    element.current!.replaceChildren(...nodes);
    marks[0]?.scrollIntoView({ block: "center" });
  }, [nodes]);
  useCodeColours(element, undefined, nodes);
  const open = ({ target }: Event) => {
    const uri = (target as Element).closest("button")?.dataset["document"];
    if (uri !== undefined) act(source.open({ uri, start: 0, end: 0 }));
  };
  return <div ref={element} class="excerpt markdown" onClick={open} />;
}

/** The text of a document, with breaks between its pages, and in colours if it is code of a known language. */
function Text({ excerpt, place, sentence, language }: ExcerptViewProps & { readonly language?: string }) {
  const words = usePage().preferences.words.value;
  const { end, start } = place;
  const pieces = useMemo(() => piecesOf(excerpt, { start, end }, sentence), [excerpt, start, end, sentence]);
  const element = useRef<HTMLDivElement>(null);
  useCodeColours(element, language, pieces);
  const highlighted = useRef<HTMLElement>(null);
  useEffect(() => highlighted.current?.scrollIntoView({ block: "center" }), [place.uri, place.start, place.end]);
  const first = pieces.find(({ kind }) => kind === "highlight");
  return (
    <div ref={element} class="excerpt">
      {excerpt.from > 0 && "…"}
      {pieces.map((piece) => {
        if (piece.kind === "page") {
          return (
            <span key={`page ${piece.at}`} class="page-break">
              {words.pageBreak(piece.page)}
            </span>
          );
        }
        if (piece.kind === "text") return <span key={piece.at}>{piece.text}</span>;
        if (piece.kind === "sentence") {
          return (
            <span key={piece.at} class="rest-of-sentence" title={words.restOfSentence}>
              {piece.text}
            </span>
          );
        }
        return (
          <mark key={piece.at} ref={piece === first ? highlighted : null}>
            {piece.text}
          </mark>
        );
      })}
      {excerpt.from + excerpt.text.length < excerpt.length && "…"}
    </div>
  );
}
