import { useSignal } from "@preact/signals";
import type { PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useRef } from "preact/hooks";
import type { WireExcerpt } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { KeptElsewhere, openPdf } from "./open-pdf.js";
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
  /** Boxes of the words on pages that are pictures, where they are known. */
  readonly boxes: NonNullable<WireExcerpt["boxes"]>;
  /** Called where the file cannot be shown, so that its text is. */
  readonly onFailure: (reason: "failed" | "elsewhere") => void;
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
export function PdfView({ href, page, quote, expected, boxes, onFailure }: PdfViewProps) {
  const words = usePage().preferences.words.value;
  const scroller = useRef<HTMLDivElement>(null);
  const opened = useSignal<Opened | undefined>(undefined);
  const fitted = useSignal(1);
  const zoom = useSignal(1);
  const current = useSignal(page);
  const match = useSignal<Match | undefined>(undefined);
  /** The place that was scrolled to: once for each citation and match, so that reading on is left alone. */
  const reached = useRef("");
  /** The places of the quotation by their pages; empty where it is not found. */
  const quoted = useSignal<ReadonlyMap<number, readonly PieceRange[]> | undefined>(undefined);

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
    open().catch((error: unknown) => {
      if (!isGone) onFailure(error instanceof KeptElsewhere ? "elsewhere" : "failed");
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
    show(Math.min(page, opened.value.pdf.numPages));
  }, [opened.value, page, quote]);

  // A quotation may go on over the page, so that both pages are read as one.
  useEffect(() => {
    quoted.value = undefined;
    const pdf = opened.value?.pdf;
    if (!pdf || quote === "" || boxes.length > 0) return undefined;
    let isGone = false;
    placesOnPages(pdf, page, quote, expected).then(
      (found) => {
        if (!isGone) quoted.value = found;
        return undefined;
      },
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, [opened.value, page, quote, expected, boxes]);

  const pagesBoxed = boxes.length > 0 ? boxes.map((box) => box.page) : [...(quoted.value?.keys() ?? [])];
  const boxedOn =
    (number: number) =>
    (pieces: readonly string[]): readonly PieceRange[] => {
      const searched = match.value;
      if (!searched) return quoted.value?.get(number) ?? [];
      return searched.page === number ? (searchOnPage(searched.query, pieces)[searched.index] ?? []) : [];
    };
  const keyOf = (number: number) => {
    if (match.value) return `${match.value.query} ${match.value.page} ${match.value.index}`;
    return pagesBoxed.includes(number) ? `${page} ${expected} ${quote}` : "";
  };
  const onBoxed = (number: number, box: HTMLElement) => {
    const wanted = keyOf(number);
    if (reached.current === wanted || (!match.value && number !== Math.min(...pagesBoxed))) return;
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
      {quoted.value?.size === 0 && !match.value && <p class="quiet">{words.pdfNotBoxed}</p>}
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
                boxes={match.value ? [] : boxes.filter((box) => box.page === number)}
                boxedKey={keyOf(number)}
                onBoxed={onBoxed}
              />
            ))
          : words.loading}
      </div>
    </div>
  );
}

/** The places of a quotation on a page and, where it goes on there, on the next. */
async function placesOnPages(
  pdf: PDFDocumentProxy,
  page: number,
  quote: string,
  expected: number,
): Promise<ReadonlyMap<number, readonly PieceRange[]>> {
  const first = await piecesOf(pdf, page);
  const next = page < pdf.numPages ? await piecesOf(pdf, page + 1) : [];
  const all = placesOnPage(
    quote,
    [...first, ...next],
    (expected * first.length) / Math.max(1, first.length + next.length),
  );
  const before = all.filter(({ piece }) => piece < first.length);
  const behind = all.flatMap(({ piece, ...range }) =>
    piece < first.length ? [] : [{ piece: piece - first.length, ...range }],
  );
  return new Map([
    ...(before.length > 0 ? [[page, before] as const] : []),
    ...(behind.length > 0 ? [[page + 1, behind] as const] : []),
  ]);
}

async function piecesOf(pdf: PDFDocumentProxy, number: number): Promise<readonly string[]> {
  const { items } = await (await pdf.getPage(number)).getTextContent();
  return items.flatMap((item) => ("str" in item ? [item.str] : []));
}
