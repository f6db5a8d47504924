import { useEffect, useRef } from "preact/hooks";
import type { WireCitation, WireExcerpt } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";
import { isPdf as isPdfAddress, originalOf, shownAddress } from "../../text/addresses.js";
import { titleOf } from "../../text/answer-as-text.js";
import { Dialog } from "../dialog.js";
import { Icon } from "../icon.js";
import { IconButton } from "../icon-button.js";
import { PdfPane } from "../pdf/pdf-pane.js";
import { DescribedPicture } from "./described-picture.js";
import { ExcerptView } from "./excerpt-view.js";

/** A document at the place that was asked for: at the side where there is room, else in front of everything. */
export function SourcePanel() {
  const { isNarrow, preferences, source } = usePage();
  const words = preferences.words.value;
  const place = source.place.value;
  if (!place) return null;
  const label = titleOf(place);
  if (isNarrow.value) {
    return (
      <Dialog label={label} kind="sheet" onClose={source.close}>
        <Panel />
      </Dialog>
    );
  }
  return (
    <aside
      class="source"
      aria-label={words.openDocument(label)}
      onKeyDown={({ key }) => {
        if (key === "Escape") source.close();
      }}
    >
      <Panel />
    </aside>
  );
}

/** The warning about a quotation: what is wrong with it, and what it claims. */
function Unsupported({ citation }: { readonly citation: WireCitation }) {
  const words = usePage().preferences.words.value;
  const { quote, struckOut, support } = citation;
  const isNear = support === "near";
  const title = struckOut ? words.struckOutTitle : isNear ? words.nearTitle : words.unsupportedTitle;
  const explained = struckOut ? words.struckOutExplained : isNear ? words.nearExplained : words.unsupportedExplained;
  return (
    <div class="unsupported-box">
      <p>
        <Icon name="warning" /> <strong>{title}</strong>
      </p>
      <p>{explained}</p>
      <blockquote>{quote}</blockquote>
    </div>
  );
}

/** Share of its page's text that stands before a place. */
function shareBefore({ from, pages, text }: WireExcerpt, start: number): number {
  const page = pages.findLast((each) => each.start <= start);
  const next = pages.find((each) => each.start > start);
  const [begin, end] = [page?.start ?? from, next?.start ?? from + text.length];
  return end > begin ? Math.max(0, Math.min(1, (start - begin) / (end - begin))) : 0;
}

function Panel() {
  const { act, preferences, source, status } = usePage();
  const words = preferences.words.value;
  const { citation, siblings = [], ...place } = source.place.value!;
  const excerpt = source.excerpt.value;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [source.place.value]);
  const index = siblings.findIndex((sibling) => sibling === citation);
  const where = citation ?? excerpt;
  // Words that the document does not hold cannot be highlighted in it.
  const original = originalOf(place.uri, status.value?.originals);
  const isMissing = citation?.support === "missing";
  const isPdf = original?.isDownload === true && isPdfAddress(place.uri);
  const isShownAsPages = isPdf && source.look.value === "pages";
  return (
    <>
      <header>
        <div>
          <h2 ref={heading} tabindex={-1}>
            {titleOf(place)}
          </h2>
          <p class="place">{[where && words.place(where), shownAddress(place.uri)].filter(Boolean).join(" · ")}</p>
        </div>
        <div class="panel-actions">
          {isPdf && source.look.value !== "failed" && source.look.value !== "elsewhere" && (
            <button
              type="button"
              class="plain small"
              onClick={() => (source.look.value = isShownAsPages ? "text" : "pages")}
            >
              {isShownAsPages ? words.showText : words.showPages}
            </button>
          )}
          {original && (
            <a
              class="icon-button"
              href={original.href}
              aria-label={words.openOriginal}
              title={words.openOriginal}
              {...(original.isDownload ? { download: "" } : { target: "_blank", rel: "noopener noreferrer" })}
            >
              <Icon name="out" />
            </a>
          )}
          {index > 0 && <IconButton icon="up" label={words.previousSource} onClick={() => act(source.step(-1))} />}
          {index >= 0 && index < siblings.length - 1 && (
            <IconButton icon="down" label={words.nextSource} onClick={() => act(source.step(1))} />
          )}
          <IconButton icon="close" label={words.close} onClick={source.close} />
        </div>
      </header>
      <div class="panel-body" tabindex={0} role="group" aria-label={titleOf(place)}>
        {citation && !citation.supported && <Unsupported citation={citation} />}
        {where?.picture && <DescribedPicture uri={place.uri} picture={where.picture} opens />}
        {source.isFailed.value && (
          <p class="failure">
            {words.sourceFailed}
            <button type="button" class="plain" onClick={() => act(source.retry())}>
              {words.tryAgain}
            </button>
          </p>
        )}
        {isPdf && source.look.value === "failed" && <p class="remark">{words.pdfFailed}</p>}
        {isPdf && source.look.value === "elsewhere" && <p class="remark">{words.pdfElsewhere}</p>}
        {excerpt && isShownAsPages ? (
          <PdfPane
            href={original.href}
            page={citation?.page ?? excerpt.page ?? 1}
            quote={isMissing ? "" : excerpt.text.slice(place.start - excerpt.from, place.end - excerpt.from)}
            expected={shareBefore(excerpt, place.start)}
            boxes={isMissing ? [] : (excerpt.boxes ?? [])}
            onFailure={(reason) => (source.look.value = reason)}
          />
        ) : excerpt ? (
          <ExcerptView
            excerpt={excerpt}
            place={isMissing ? { ...place, end: place.start } : place}
            sentence={citation?.supported ? citation.sentence : undefined}
          />
        ) : (
          !source.isFailed.value && <p class="quiet">{words.loading}</p>
        )}
      </div>
    </>
  );
}
