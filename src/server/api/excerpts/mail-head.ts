import { given } from "../../../core/given.js";
import type { Document, Json } from "../../../core/types.js";
import type { ScopedKnowledgeBase } from "../../../knowledge-base/options.js";
import type { WireExcerpt } from "../wire.js";

type MailHead = NonNullable<WireExcerpt["mail"]>;

/** Documents behind a mail among which those of its attachments are looked for. */
const maxInner = 200;
const mailFile = /\.(?:eml|msg|mbox|mbx|mht|mhtml)(?=$|[?#;])/i;

/**
 * Sender, receivers, date and attachments of a mail, with the documents that the attachments became, as far as the caller may
 * see them; `undefined` for what is no mail.
 */
export async function mailHeadOf(
  { uri, metadata = {} }: Document,
  documents: Pick<ScopedKnowledgeBase, "documents">,
): Promise<MailHead | undefined> {
  if (!mailFile.test(uri)) return undefined;
  const [from, date] = [metadata["from"], metadata["date"]].map((value) =>
    typeof value === "string" ? value : undefined,
  );
  const [to, cc, attachments] = [metadata["to"], metadata["cc"], metadata["attachments"]].map(textsOf);
  // A file that is attached to a mail has the metadata of its own format.
  if (from === undefined && to!.length === 0) return undefined;
  const inner = attachments!.length === 0 ? [] : await documents.documents({ after: uri, limit: maxInner });
  const known = new Set(inner.map((document) => document.uri));
  const counts = new Map<string, number>();
  return {
    ...given({ from, date }),
    to: to!,
    cc: cc!,
    attachments: attachments!.map((name) => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const address = `${uri}#${encodedPath(name)}${count === 1 ? "" : `;${count}`}`;
      return { name, ...(known.has(address) && { uri: address }) };
    }),
  };
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** The loader writes the name of an inner file into its address so. */
function encodedPath(name: string): string {
  return Buffer.from(name)
    .toString()
    .split("/")
    .map((part) => encodeURIComponent(part))
    .join("/");
}
