import type { ComponentChildren } from "preact";
import type { WireExcerpt } from "../../../../api/wire.js";
import { usePage } from "../../state/page.js";

export interface MailHeadProps {
  readonly mail: NonNullable<WireExcerpt["mail"]>;
  readonly subject: string | undefined;
  /** Whether the text below begins with the same lines. */
  readonly isRepeated: boolean;
}

/**
 * Who wrote a mail to whom, when and about what, unless the text below says it, and what is attached. Attachments that were read
 * open here.
 */
export function MailHead({ mail: { from, to, cc, date, attachments }, subject, isRepeated }: MailHeadProps) {
  const { act, preferences, source } = usePage();
  const { mailFields } = preferences.words.value;
  const language = preferences.language.value;
  const line = (name: keyof typeof mailFields, value: ComponentChildren) =>
    value ? (
      <div>
        <dt>{mailFields[name]}</dt>
        <dd>{value}</dd>
      </div>
    ) : null;
  if (isRepeated && attachments.length === 0) return null;
  return (
    <dl class="mail-head">
      {!isRepeated && (
        <>
          {line("from", from)}
          {line("to", to.join(", "))}
          {line("cc", cc.join(", "))}
          {line("date", date !== undefined && <time dateTime={date}>{shownDate(date, language)}</time>)}
          {line("subject", subject)}
        </>
      )}
      {line(
        "attachments",
        attachments.length > 0 && (
          <ul>
            {attachments.map(({ name, uri }, index) => (
              <li key={`${index} ${name}`}>
                {uri === undefined ? (
                  name
                ) : (
                  <button type="button" data-document={uri} onClick={() => act(source.open({ uri, start: 0, end: 0 }))}>
                    {name}
                  </button>
                )}
              </li>
            ))}
          </ul>
        ),
      )}
    </dl>
  );
}

/** A date as the reader writes it in the page's language, in the own time zone; one that is none as it stands in the mail. */
function shownDate(date: string, language: string): string {
  const time = new Date(date);
  if (Number.isNaN(time.getTime())) return date;
  const locale = navigator.languages.find((each) => each.startsWith(language)) ?? language;
  return time.toLocaleString(locale, { dateStyle: "long", timeStyle: "short" });
}
