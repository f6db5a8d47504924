import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { isPdf, originalOf } from "../../text/addresses.js";

/** Pictures that are kept, so that a list that is scrolled back is not drawn again. */
const maxKept = 200;
const kept = new Map<string, HTMLCanvasElement>();

/** The first page of a PDF, drawn when its row comes into view; nothing for other documents. */
export function FirstPage({ uri }: { readonly uri: string }) {
  const { status } = usePage();
  const holder = useRef<HTMLSpanElement>(null);
  const original = originalOf(uri, status.value?.originals);
  const href = original?.isDownload && isPdf(uri) ? original.href : undefined;
  useEffect(() => {
    if (href === undefined) return undefined;
    const stop = new AbortController();
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      void show(holder.current!, href, stop.signal);
    });
    observer.observe(holder.current!);
    return () => {
      observer.disconnect();
      stop.abort();
    };
  }, [href]);
  return href === undefined ? null : <span ref={holder} class="first-page" aria-hidden="true" />;
}

async function show(holder: HTMLElement, href: string, signal: AbortSignal): Promise<void> {
  const known = kept.get(href);
  if (known) {
    holder.replaceChildren(known);
    return;
  }
  try {
    const { drawFirstPage } = await import("../pdf/first-page.js");
    const canvas = await drawFirstPage(new URL(href, document.baseURI).href, holder.clientWidth, signal);
    if (!canvas) return;
    if (kept.size >= maxKept) kept.delete(kept.keys().next().value!);
    kept.set(href, canvas);
    if (holder.isConnected) holder.replaceChildren(canvas);
  } catch {
    // The list can be read without it.
  }
}
