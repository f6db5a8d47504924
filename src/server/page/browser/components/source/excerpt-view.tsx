import { useEffect, useRef } from "preact/hooks";
import type { WireExcerpt } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import type { Place } from "../../state/source.js";
import { piecesOf } from "../../text/excerpt.js";

export interface ExcerptViewProps {
  readonly excerpt: WireExcerpt;
  readonly place: Pick<Place, "uri" | "start" | "end">;
  /** The whole sentence around the place; the rest of it is marked, too. */
  readonly sentence?: Pick<Place, "start" | "end"> | undefined;
}

/** A part of a document with the place highlighted, which can be widened in both directions. */
export function ExcerptView({ excerpt, place, sentence }: ExcerptViewProps) {
  const { act, preferences, source } = usePage();
  const words = preferences.words.value;
  const highlighted = useRef<HTMLElement>(null);
  useEffect(() => highlighted.current?.scrollIntoView({ block: "center" }), [place.uri, place.start, place.end]);
  const pieces = piecesOf(excerpt, place, sentence);
  const first = pieces.find(({ kind }) => kind === "highlight");
  const isCutBefore = excerpt.from > 0;
  const isCutAfter = excerpt.from + excerpt.text.length < excerpt.length;
  return (
    <>
      {isCutBefore && (
        <button type="button" class="plain wide" onClick={() => act(source.widen())}>
          {words.showBefore}
        </button>
      )}
      <div class="excerpt">
        {isCutBefore && "…"}
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
        {isCutAfter && "…"}
      </div>
      {isCutAfter && (
        <button type="button" class="plain wide" onClick={() => act(source.widen())}>
          {words.showAfter}
        </button>
      )}
    </>
  );
}
