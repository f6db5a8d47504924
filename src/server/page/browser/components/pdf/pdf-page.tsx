import type { PDFDocumentProxy } from "pdfjs-dist";
import { TextLayer } from "pdfjs-dist";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { PieceRange } from "./quote-on-page.js";

export interface PageSize {
  /** In points, at a scale of 1, as the page is turned. */
  readonly width: number;
  readonly height: number;
}

export interface PdfPageProps {
  readonly pdf: PDFDocumentProxy;
  readonly number: number;
  readonly label: string;
  readonly scale: number;
  /** Size to hold free until the page's own is known. */
  readonly expected: PageSize;
  /** Whether the page is near what is shown; others hold no picture. */
  readonly isNear: boolean;
  /** The places to box, by the pieces of the page's text. */
  readonly boxed: (pieces: readonly string[]) => readonly PieceRange[];
  /** Boxes that are known by themselves, in shares of the page. */
  readonly boxes: readonly {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
  }[];
  /** Changes with `boxed` and `boxes`. */
  readonly boxedKey: string;
  /** Called when boxes were drawn, with the first. */
  readonly onBoxed: (number: number, first: HTMLElement) => void;
}

/** A page of a PDF: its picture, its text above it, which can be selected and read out, and boxes around cited words. */
export function PdfPage(props: PdfPageProps) {
  const { pdf, number, label, scale, expected, isNear, boxed, boxes, boxedKey, onBoxed } = props;
  const holder = useRef<HTMLDivElement>(null);
  const text = useRef<{ readonly layer: TextLayer; readonly element: HTMLElement } | undefined>(undefined);

  const drawBoxes = () => {
    const element = holder.current;
    const drawn = text.current;
    if (!element || !drawn) return;
    for (const box of element.querySelectorAll(".cited-box")) box.remove();
    const around = element.getBoundingClientRect();
    let first: HTMLElement | undefined;
    const found = rectanglesOf(drawn.layer, boxed(drawn.layer.textContentItemsStr)).map((rectangle) => ({
      left: (rectangle.left - around.left) / around.width,
      top: (rectangle.top - around.top) / around.height,
      right: (rectangle.right - around.left) / around.width,
      bottom: (rectangle.bottom - around.top) / around.height,
    }));
    for (const { left, top, right, bottom } of [...found, ...boxes]) {
      const box = document.createElement("div");
      box.className = "cited-box";
      // Set by script, since the policy forbids styles in markup.
      Object.assign(box.style, {
        left: `${100 * left}%`,
        top: `${100 * top}%`,
        width: `${100 * (right - left)}%`,
        height: `${100 * (bottom - top)}%`,
      });
      element.append(box);
      first ??= box;
    }
    if (first) onBoxed(number, first);
  };

  useEffect(() => {
    const element = holder.current!;
    if (!isNear) return undefined;
    let isGone = false;
    let stop = () => {};
    const draw = async () => {
      const page = await pdf.getPage(number);
      if (isGone) return;
      const viewport = page.getViewport({ scale });
      sizeTo(element, viewport);
      const pixels = window.devicePixelRatio || 1;
      const canvas = document.createElement("canvas");
      canvas.width = Math.floor(viewport.width * pixels);
      canvas.height = Math.floor(viewport.height * pixels);
      const task = page.render({
        canvasContext: canvas.getContext("2d")!,
        viewport,
        ...(pixels !== 1 && { transform: [pixels, 0, 0, pixels, 0, 0] }),
      });
      const layerElement = document.createElement("div");
      layerElement.className = "pdf-text";
      layerElement.style.setProperty("--total-scale-factor", String(scale));
      const layer = new TextLayer({ textContentSource: page.streamTextContent(), container: layerElement, viewport });
      stop = () => {
        task.cancel();
        layer.cancel();
      };
      await Promise.all([task.promise, layer.render()]);
      if (isGone) return;
      element.replaceChildren(canvas, layerElement);
      text.current = { layer, element: layerElement };
      drawBoxes();
    };
    draw().catch((error: unknown) => {
      // A page whose drawing was given up is drawn anew when it is near again.
      if (!isGone) element.textContent = error instanceof Error ? error.message : String(error);
    });
    return () => {
      isGone = true;
      stop();
      text.current = undefined;
      element.replaceChildren();
    };
  }, [pdf, number, scale, isNear]);
  useEffect(drawBoxes, [boxedKey]);
  // Before anybody scrolls to a page: those above it must have their heights.
  useLayoutEffect(() => {
    if (!isNear || holder.current!.style.width === "")
      sizeTo(holder.current!, { width: expected.width * scale, height: expected.height * scale });
  }, [scale, expected]);
  return <div ref={holder} class="pdf-page" data-page={number} role="region" aria-label={label} />;
}

function sizeTo(element: HTMLElement, { width, height }: PageSize): void {
  element.style.width = `${width}px`;
  element.style.height = `${height}px`;
}

/** The places of a page's text on the screen, a rectangle for each line. */
function rectanglesOf(layer: TextLayer, ranges: readonly PieceRange[]): DOMRect[] {
  return ranges.flatMap(({ piece, start, end }) => {
    const node = layer.textDivs[piece]?.firstChild;
    if (!node) return [];
    const range = document.createRange();
    const length = node.nodeValue?.length ?? 0;
    range.setStart(node, Math.min(start, length));
    range.setEnd(node, Math.min(end, length));
    return [...range.getClientRects()];
  });
}
