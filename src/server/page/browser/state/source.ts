import { batch, signal } from "@preact/signals";
import type { WireCitation, WireExcerpt } from "../../../api/wire.js";
import type { Client } from "../api/client.js";
import { isRow } from "../text/addresses.js";

/** A place in a document that the reader wants to see. */
export interface Place {
  readonly uri: string;
  readonly title?: string | undefined;
  readonly start: number;
  readonly end: number;
  /** The citation that points there, if one does. */
  readonly citation?: WireCitation;
  /** All citations of its answer, to go from one to the next. */
  readonly siblings?: readonly WireCitation[];
}

/** Characters shown on either side of the place at first. */
const firstAround = 12_000;
/** Rows of a table that are shown on either side of the cited one at first, and at most. */
export const rowsAsked = { first: 8, most: 100 };

export type Source = ReturnType<typeof createSource>;

/** The document that is open beside the answers. */
export function createSource(client: Client) {
  const place = signal<Place | undefined>(undefined);
  const excerpt = signal<WireExcerpt | undefined>(undefined);
  const isFailed = signal(false);
  /** How a PDF is shown; `failed` where it cannot be shown as its pages, `elsewhere` where the server has no file of it. */
  const look = signal<"pages" | "text" | "failed" | "elsewhere">("pages");
  let around = firstAround;
  let opener: HTMLElement | undefined;

  const load = async (to: Place) => {
    isFailed.value = false;
    try {
      const rows = isRow(to.uri) ? Math.min(rowsAsked.most, Math.round((around / firstAround) * rowsAsked.first)) : 0;
      const found = await client.excerpt(to.uri, to.start, to.end, around, rows);
      if (place.value === to) excerpt.value = found;
    } catch {
      if (place.value === to) isFailed.value = true;
    }
  };

  const show = (to: Place) => {
    around = firstAround;
    batch(() => {
      if ((look.value === "failed" || look.value === "elsewhere") && place.value?.uri !== to.uri) look.value = "pages";
      place.value = to;
      excerpt.value = undefined;
    });
    return load(to);
  };

  return {
    place,
    excerpt,
    isFailed,
    look,
    /** Opens a place; the focus returns to where it was when the document is closed. */
    open: (to: Place) => {
      if (document.activeElement instanceof HTMLElement && !place.value) opener = document.activeElement;
      return show(to);
    },
    openCitation: (citation: WireCitation, siblings: readonly WireCitation[]) => {
      if (document.activeElement instanceof HTMLElement && !place.value) opener = document.activeElement;
      return show(placeOf(citation, siblings));
    },
    /** Goes to the next citation of the same answer, or with -1 to the one before. */
    step: (by: 1 | -1) => {
      const { citation, siblings = [] } = place.value ?? {};
      const next = siblings[siblings.findIndex((sibling) => sibling === citation) + by];
      return next ? show(placeOf(next, siblings)) : undefined;
    },
    retry: () => (place.value ? load(place.value) : undefined),
    /** Shows three times as much of the document. */
    widen: () => {
      around *= 3;
      return place.value ? load(place.value) : undefined;
    },
    close: () => {
      batch(() => {
        place.value = undefined;
        excerpt.value = undefined;
      });
      if (opener?.isConnected) opener.focus();
      opener = undefined;
    },
  };
}

function placeOf(citation: WireCitation, siblings: readonly WireCitation[]): Place {
  const { uri, title, start, end } = citation;
  return { uri, title, start, end, citation, siblings };
}
