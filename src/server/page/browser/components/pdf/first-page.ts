import { openPdf } from "./open-pdf.js";

/** Each takes a thread and memory for a page. */
const maxAtOnce = 2;
/** Letters of less than a pixel are left out, so that a small picture is drawn larger and shown smaller. */
const minWidth = 320;
let running = 0;
const waiting: (() => void)[] = [];

/**
 * Draws the first page of a PDF, two at once; `undefined` when it is not wanted any more.
 *
 * @param width in pixels of the page
 * @throws what `openPdf` throws.
 */
export async function drawFirstPage(
  address: string,
  width: number,
  signal: AbortSignal,
): Promise<HTMLCanvasElement | undefined> {
  if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return signal.aborted ? undefined : await drawn(address, width);
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

async function drawn(address: string, width: number): Promise<HTMLCanvasElement> {
  const { pdf, close } = await openPdf(address);
  try {
    const page = await pdf.getPage(1);
    const drawnWidth = Math.max(minWidth, width * (window.devicePixelRatio || 1));
    const scale = drawnWidth / page.getViewport({ scale: 1 }).width;
    const viewport = page.getViewport({ scale });
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(viewport.width);
    canvas.height = Math.ceil(viewport.height);
    await page.render({ canvasContext: canvas.getContext("2d")!, viewport }).promise;
    return canvas;
  } finally {
    close();
  }
}
