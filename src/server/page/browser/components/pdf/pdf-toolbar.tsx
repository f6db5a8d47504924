import { useSignal } from "@preact/signals";
import { usePage } from "../../state/page.js";
import { IconButton } from "../icon-button.js";

export interface PdfToolbarProps {
  readonly page: number;
  readonly pages: number;
  readonly percent: number;
  readonly onPage: (page: number) => void;
  /** Called with 1 to enlarge, with -1 to reduce. */
  readonly onZoom: (by: 1 | -1) => void;
  readonly onFit: () => void;
  /** Resolves to whether there is a match. */
  readonly onSearch: (query: string, by: 1 | -1) => Promise<boolean>;
}

/** Pages, zoom and search of a PDF. */
export function PdfToolbar({ page, pages, percent, onPage, onZoom, onFit, onSearch }: PdfToolbarProps) {
  const { act, preferences } = usePage();
  const words = preferences.words.value;
  const query = useSignal("");
  const isFound = useSignal(true);
  const search = (by: 1 | -1) => {
    act(onSearch(query.value, by).then((found) => (isFound.value = found)));
  };
  return (
    <div class="pdf-toolbar" role="toolbar" aria-label={words.pdfToolbar}>
      <IconButton icon="up" label={words.previousPage} onClick={() => onPage(Math.max(1, page - 1))} />
      <IconButton icon="down" label={words.nextPage} onClick={() => onPage(Math.min(pages, page + 1))} />
      <input
        class="page-number"
        inputMode="numeric"
        aria-label={words.pageNumber}
        value={page}
        onChange={({ currentTarget }) => {
          const wanted = Number(currentTarget.value);
          if (Number.isInteger(wanted) && wanted >= 1 && wanted <= pages) onPage(wanted);
          else currentTarget.value = String(page);
        }}
      />
      <span class="quiet">/ {pages}</span>
      <IconButton icon="minus" label={words.zoomOut} onClick={() => onZoom(-1)} />
      <button type="button" class="icon-button" title={words.fitWidth} onClick={onFit}>
        {percent} % <span class="for-screen-readers">{words.fitWidth}</span>
      </button>
      <IconButton icon="plus" label={words.zoomIn} onClick={() => onZoom(1)} />
      <input
        type="search"
        aria-label={words.searchInDocument}
        placeholder={words.searchInDocument}
        aria-invalid={!isFound.value}
        value={query}
        onInput={({ currentTarget }) => (query.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.isComposing) return;
          event.preventDefault();
          search(event.shiftKey ? -1 : 1);
        }}
      />
      {!isFound.value && (
        <span class="quiet" role="status">
          {words.notFoundInDocument}
        </span>
      )}
    </div>
  );
}
