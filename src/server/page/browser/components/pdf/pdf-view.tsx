import { useSignal } from "@preact/signals";
import type { PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { openPdf } from "./open-pdf.js";
import { type PieceRange, placesOnPage, searchOnPage } from "./quote-on-page.js";
import { type PageSize, PdfPage } from "./pdf-page.js";
import { PdfToolbar } from "./pdf-toolbar.js";

export interface PdfViewProps {
  /** Address of the file. */
  readonly href: string;
  /** Page to open, from 1. */
  readonly page: number;
  /** The document's words that are to be boxed there; empty for none. */
  readonly quote: string;
  /** Share of the page's text before them, 0 to 1. */
  readonly expected: number;
  /** Called where the file cannot be shown, so that its text is. */
  readonly onFailure: () => void;
}

interface Opened {
  readonly pdf: PDFDocumentProxy;
  readonly size: PageSize;
}

/** A match of what is searched for. */
interface Match {
  readonly query: string;
  readonly page: number;
  /** Which of the page's matches, from 0. */
  readonly index: number;
}

/** Pages on either side of those on the screen that are drawn beforehand. */
const drawnAround = 1;
const margin = 16;
const zooms = { min: 0.25, max: 5, step: 1.25 };

/** A PDF as its pages, with the cited words boxed. */
export function PdfView({ href, page, quote, expected, onFailure }: PdfViewProps) {
  const words = usePage().preferences.words.value;
  const scroller = useRef<HTMLDivElement>(null);
  const opened = useSignal<Opened | undefined>(undefined);
  const fitted = useSignal(1);
  const zoom = useSignal(1);
  const current = useSignal(page);
  const match = useSignal<Match | undefined>(undefined);
  /** The place that was scrolled to: once for each citation and match, so that reading on is left alone. */
  const reached = useRef("");
  const isBoxMissing = useSignal(false);

  useEffect(() => {
    let isGone = false;
    let close = () => {};
    opened.value = undefined;
    const open = async () => {
      const found = await openPdf(new URL(href, document.baseURI).href);
      if (isGone) {
        found.close();
        return;
      }
      close = found.close;
      const { pdf } = found;
      const first = (await pdf.getPage(Math.min(page, pdf.numPages))).getViewport({ scale: 1 });
      if (isGone) return;
      fitted.value = Math.max(0.1, (scroller.current!.clientWidth - margin) / first.width);
      opened.value = { pdf, size: { width: first.width, height: first.height } };
    };
    open().catch(() => {
      if (!isGone) onFailure();
    });
    return () => {
      isGone = true;
      close();
    };
  }, [href]);

  const scale = fitted.value * zoom.value;
  const show = (number: number) => {
    const target = scroller.current?.querySelector(`[data-page="${number}"]`);
    target?.scrollIntoView({ block: "start" });
    current.value = number;
  };
  useEffect(() => {
    if (!opened.value) return;
    reached.current = "";
    match.value = undefined;
    isBoxMissing.value = false;
    show(Math.min(page, opened.value.pdf.numPages));
  }, [opened.value, page, quote]);

  const place = `${page} ${expected} ${quote}`;
  const boxedOn =
    (number: number) =>
    (pieces: readonly string[]): readonly PieceRange[] => {
      const searched = match.value;
      if (searched) return searched.page === number ? (searchOnPage(searched.query, pieces)[searched.index] ?? []) : [];
      if (number !== page && number !== page + 1) return [];
      const places = number === page ? placesOnPage(quote, pieces, expected) : tailOf(quote, pieces);
      if (number === page) isBoxMissing.value = quote !== "" && places.length === 0;
      return places;
    };
  const keyOf = (number: number) =>
    match.value
      ? `${match.value.query} ${match.value.page} ${match.value.index}`
      : number === page || number === page + 1
        ? place
        : "";
  const onBoxed = (number: number, box: HTMLElement) => {
    const wanted = keyOf(number);
    if (reached.current === wanted || (!match.value && number !== page)) return;
    reached.current = wanted;
    box.scrollIntoView({ block: "center" });
  };

  const onScroll = () => {
    const { top, height } = scroller.current!.getBoundingClientRect();
    const pages = [...scroller.current!.querySelectorAll<HTMLElement>(".pdf-page")];
    const seen = pages.findLast((element) => element.getBoundingClientRect().top <= top + height / 2);
    current.value = Number(seen?.dataset["page"] ?? 1);
  };

  const search = async (query: string, by: 1 | -1) => {
    const pdf = opened.value?.pdf;
    if (!pdf || query.trim() === "") {
      match.value = undefined;
      return true;
    }
    const from = match.value?.query === query ? match.value : undefined;
    const count = pdf.numPages;
    const begin = from?.page ?? current.value;
    for (let step = 0; step <= count; step++) {
      const number = ((begin - 1 + by * step + count * (step + 1)) % count) + 1;
      const matches = searchOnPage(query, await piecesOf(pdf, number));
      const indexes = [...matches.keys()].filter(
        (index) => step > 0 || from === undefined || (by > 0 ? index > from.index : index < from.index),
      );
      const index = by > 0 ? indexes[0] : indexes.at(-1);
      if (index === undefined) continue;
      match.value = { query, page: number, index };
      if (Math.abs(number - current.value) > drawnAround) show(number);
      return true;
    }
    match.value = undefined;
    return false;
  };

  const count = opened.value?.pdf.numPages ?? 0;
  const zoomBy = (factor: number) => {
    const kept = current.value;
    zoom.value = Math.min(zooms.max, Math.max(zooms.min, zoom.value * factor));
    requestAnimationFrame(() => show(kept));
  };
  return (
    <div class="pdf">
      <PdfToolbar
        page={current.value}
        pages={count}
        percent={Math.round(100 * zoom.value)}
        onPage={show}
        onZoom={(by) => zoomBy(by > 0 ? zooms.step : 1 / zooms.step)}
        onFit={() => zoomBy(1 / zoom.value)}
        onSearch={search}
      />
      {isBoxMissing.value && !match.value && <p class="quiet">{words.pdfNotBoxed}</p>}
      <div ref={scroller} class="pdf-pages" tabindex={0} role="group" aria-label={words.pdfPages} onScroll={onScroll}>
        {opened.value
          ? Array.from({ length: count }, (_, index) => index + 1).map((number) => (
              <PdfPage
                key={number}
                pdf={opened.value!.pdf}
                number={number}
                label={words.pageBreak(number)}
                scale={scale}
                expected={opened.value!.size}
                isNear={Math.abs(number - current.value) <= drawnAround}
                boxed={boxedOn(number)}
                boxedKey={keyOf(number)}
                onBoxed={onBoxed}
              />
            ))
          : words.loading}
      </div>
    </div>
  );
}

/** The end of a quotation that goes on from the page before, at the beginning of a page. */
function tailOf(quote: string, pieces: readonly string[]): readonly PieceRange[] {
  const pieceWords = quote.split(/\s+/);
  for (let from = 1; from < pieceWords.length - 2; from++) {
    const found = placesOnPage(pieceWords.slice(from).join(" "), pieces);
    if (found.length > 0) return found[0]!.piece < 8 ? found : [];
  }
  return [];
}

async function piecesOf(pdf: PDFDocumentProxy, number: number): Promise<readonly string[]> {
  const { items } = await (await pdf.getPage(number)).getTextContent();
  return items.flatMap((item) => ("str" in item ? [item.str] : []));
}
