import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import type { Document } from "../../../src/core/types.js";
import { readFolder, type ReadFolderOptions } from "../../../src/load/sources/read-folder.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A mail as its writer sees it: a sentence for each paragraph. */
interface Written {
  readonly id: string;
  readonly from: string;
  readonly on: string;
  readonly subject: string;
  readonly says: readonly string[];
}

const [asked, answered, again]: readonly [Written, Written, Written] = [
  {
    id: "ask@example.com",
    from: "Anna Berg <anna@example.com>",
    on: "Mon, 4 Mar 2024 09:12:00 +0100",
    subject: "Lease",
    says: ["When does the lease of the harbour office end?", "Who keeps the spare keys?"],
  },
  {
    id: "answer@example.com",
    from: "Paul Ortega <paul@example.com>",
    on: "Tue, 5 Mar 2024 14:03:00 +0100",
    subject: "Re: Lease",
    says: ["It ends on the last day of May.", "The porter keeps them in drawer nine."],
  },
  {
    id: "again@example.com",
    from: "Anna Berg <anna@example.com>",
    on: "Wed, 6 Mar 2024 08:00:00 +0100",
    subject: "Re: Lease",
    says: ["Then we move in June.", "Please tell the movers."],
  },
];

/** How a program writes a mail, or one with another below it. */
interface MailProgram {
  readonly plainQuote: (own: readonly string[], earlier: string, of: Written) => string;
  readonly htmlQuote: (own: string, earlier: string, of: Written) => string;
  /** Default: as it quotes. */
  readonly plainForward?: (own: readonly string[], earlier: string, of: Written) => string;
  readonly htmlForward?: (own: string, earlier: string, of: Written) => string;
}

const lines = (...parts: readonly string[]) => parts.join("\n");
const quoted = (text: string) => text.replace(/^(>?)/gmu, (mark) => (mark ? ">>" : "> "));
const marks = (text: string) => text.replace(/&/gu, "&amp;").replace(/</gu, "&lt;");
const outlookHead = ({ from, on, subject }: Written) =>
  lines(`From: ${from}`, `Sent: ${on}`, `To: team@example.com`, `Subject: ${subject}`, "");
const htmlHead = ({ from, on, subject }: Written) =>
  `<b>From:</b> ${marks(from)}<br><b>Sent:</b> ${on}<br><b>To:</b> team@example.com<br><b>Subject:</b> ${subject}<br>`;
const forwardBelow =
  (divider: string) =>
  (own: readonly string[], earlier: string, { from, on, subject }: Written) =>
    lines(...own, "", divider, `Subject: ${subject}`, `Date: ${on}`, `From: ${from}`, "", earlier);

const programs: Readonly<Record<string, MailProgram>> = {
  Gmail: {
    plainQuote: (own, earlier, { from, on }) => lines(...own, "", `On ${on} ${from} wrote:`, "", quoted(earlier)),
    htmlQuote: (own, earlier, { from, on }) =>
      `<div dir="ltr">${own}</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On ${on} ${marks(from)} wrote:<br></div><blockquote class="gmail_quote">${earlier}</blockquote></div>`,
    plainForward: forwardBelow("---------- Forwarded message ---------"),
    htmlForward: (own, earlier, { from, on }) =>
      `<div dir="ltr">${own}<br><div class="gmail_quote"><div class="gmail_attr">---------- Forwarded message ---------<br>From: ${marks(from)}<br>Date: ${on}<br></div>${earlier}</div></div>`,
  },
  Outlook: {
    plainQuote: (own, earlier, of) => lines(...own, "", outlookHead(of), earlier),
    htmlQuote: (own, earlier, of) =>
      `<div class="WordSection1">${own}<div><div style="border:none;border-top:solid #E1E1E1 1.0pt">${htmlHead(of)}</div></div>${earlier}</div>`,
  },
  "Outlook on the web": {
    plainQuote: (own, earlier, of) => lines(...own, "", "________________________________", outlookHead(of), earlier),
    htmlQuote: (own, earlier, of) =>
      `<div>${own}</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg">${htmlHead(of)}</div><div>${earlier}</div>`,
  },
  "Apple Mail": {
    plainQuote: (own, earlier, { from, on }) => lines(...own, "", `> On ${on}, ${from} wrote:`, "> ", quoted(earlier)),
    htmlQuote: (own, earlier, { from, on }) =>
      `<div>${own}</div><div><br><blockquote type="cite"><div>On ${on}, ${marks(from)} wrote:</div><br><div>${earlier}</div></blockquote></div>`,
    plainForward: (own, earlier, { from, on }) =>
      lines(...own, "", "> Begin forwarded message:", "> ", `> From: ${from}`, `> Date: ${on}`, "> ", quoted(earlier)),
    htmlForward: (own, earlier, { from }) =>
      `<div>${own}</div><blockquote type="cite"><div>Begin forwarded message:</div><br><div><b>From: </b>${marks(from)}</div><br><div>${earlier}</div></blockquote>`,
  },
  Thunderbird: {
    plainQuote: (own, earlier, { from, on }) => lines(`On ${on}, ${from} wrote:`, quoted(earlier), "", ...own),
    htmlQuote: (own, earlier, { from, on }) =>
      `<div class="moz-cite-prefix">On ${on}, ${marks(from)} wrote:<br></div><blockquote type="cite" cite="mid:x">${earlier}</blockquote>${own}`,
    plainForward: forwardBelow("-------- Forwarded Message --------"),
    htmlForward: (own, earlier, { from }) =>
      `${own}<div class="moz-forward-container"><br>-------- Forwarded Message --------<table><tr><th>From:</th><td>${marks(from)}</td></tr></table>${earlier}</div>`,
  },
  GMX: {
    plainQuote: (own, earlier, { from, on }) =>
      lines(...own, "", `Gesendet: ${on}`, `Von: ${from}`, "", quoted(earlier)),
    htmlQuote: (own, earlier, { from, on }) =>
      `<div>${own}<div name="quote" style="margin:10px"><div><b>Gesendet:</b> ${on}<br><b>Von:</b> ${marks(from)}</div><div name="quoted-content">${earlier}</div></div></div>`,
    plainForward: (own, earlier, { from, on }) =>
      lines(...own, "", "-------- Weitergeleitete Nachricht --------", `Von: ${from}`, `Datum: ${on}`, "", earlier),
    htmlForward: (own, earlier, { from }) =>
      `<div>${own}<div name="quote">-------- Weitergeleitete Nachricht --------<br><b>Von:</b> ${marks(from)}<br>${earlier}</div></div>`,
  },
};

const page = (says: readonly string[]) => says.map((sentence) => `<p>${sentence}</p>`).join("");

/** A mail in a file of its own. */
function file({ id, from, on, subject }: Written, kind: "plain" | "html", body: string, answersTo?: string): string {
  const thread = answersTo === undefined ? [] : [`In-Reply-To: <${answersTo}>`, `References:`, ` <${answersTo}>`];
  const head = [
    `From: ${from}`,
    "To: team@example.com",
    `Subject: ${subject}`,
    `Date: ${on}`,
    // Exchange puts the id on a line of its own.
    "Message-ID:",
    ` <${id}>`,
    ...thread,
  ];
  return `${lines(...head, `Content-Type: text/${kind}; charset=utf-8`, "", body)}\n`.replace(/\n/gu, "\r\n");
}

type Kind = "plain" | "html";

/** The mails that a program makes of the thread, each with everything that a person reads in it. */
function mailsOf(program: MailProgram, kind: Kind) {
  const { plainQuote, htmlQuote, plainForward = plainQuote, htmlForward = htmlQuote } = program;
  const isHtml = kind === "html";
  const quote = ({ says }: Written, earlier: string, of: Written) =>
    isHtml ? htmlQuote(page(says), earlier, of) : plainQuote(says, earlier, of);
  const first = isHtml ? page(asked.says) : lines(...asked.says);
  const second = quote(answered, first, asked);
  const passedOn = { ...again, id: "pass@example.com", subject: "Fwd: Lease" };
  const forward = isHtml
    ? htmlForward(page(["For your files."]), first, asked)
    : plainForward(["For your files."], first, asked);
  const inLine = asked.says.flatMap((sentence, index) =>
    isHtml
      ? [`<blockquote type="cite">${sentence}</blockquote>`, `<p>${answered.says[index]}</p>`]
      : [`> ${sentence}`, answered.says[index]!],
  );
  return {
    "answered above": { text: file(answered, kind, second, asked.id), reads: [...answered.says, ...asked.says] },
    "answered in line": {
      text: file({ ...answered, id: "lines@example.com" }, kind, lines(...inLine), asked.id),
      reads: [...answered.says, ...asked.says],
    },
    nested: {
      text: file(again, kind, quote(again, second, answered), answered.id),
      reads: [...again.says, ...answered.says, ...asked.says],
    },
    forwarded: { text: file(passedOn, kind, forward), reads: ["For your files.", ...asked.says] },
  };
}

const cases = Object.entries(programs).flatMap(([name, program]) =>
  (["plain", "html"] as const).flatMap((kind) =>
    Object.entries(mailsOf(program, kind)).map(([how, mail]) => ({ name, kind, how, ...mail })),
  ),
);

async function read(files: Readonly<Record<string, string | Uint8Array>>, options: ReadFolderOptions = {}) {
  const folder = await temporaryFolder(files);
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  const documents = await collect(readFolder(folder, options).read(context));
  const leftOut = events.flatMap((event) => (event.type === "left-out" ? [event] : []));
  return { documents, leftOut, failures: [...context.failures] };
}

const words = (text: string) => text.replace(/[>\s]+/gu, " ");
const missingIn = (documents: readonly Document[], says: readonly string[]) =>
  says.filter((sentence) => !documents.some(({ text }) => words(text).includes(sentence)));

describe("mails of six programs, forwarded, answered above and in line, and nested, plain and in HTML", () => {
  test("are enough to tell", () => {
    expect(cases.length).toBe(48);
  });

  test.each(cases)("$name, $kind, $how: nothing is missing that stands nowhere else", async ({ text, reads }) => {
    const { documents, leftOut, failures } = await read({ "mail.eml": text });
    expect(failures).toEqual([]);
    expect(documents.length).toBe(1);
    expect(missingIn(documents, reads)).toEqual([]);
    expect(leftOut).toEqual([]);
    expect(documents[0]!.text).toMatch(/^From: .+@example\.com>? *\nTo: team@example\.com/);
  });

  test.each(cases)("$name, $kind, $how: beside the mails that it answers, nothing is missing in all", async (mail) => {
    const first = file(asked, "plain", lines(...asked.says));
    const second = file(answered, "plain", lines(...answered.says), asked.id);
    const { documents } = await read({ "a-mail.eml": mail.text, "b.eml": first, "c.eml": second });
    expect(documents.length).toBe(3);
    expect(missingIn(documents, mail.reads)).toEqual([]);
    const own = mail.reads.slice(0, mail.how === "forwarded" ? mail.reads.length : 2);
    expect(missingIn(documents.slice(0, 1), own)).toEqual([]);
  });
});

describe("a reply beside the mail that it answers", () => {
  const [{ text }] = [mailsOf(programs["Gmail"]!, "plain")["answered above"]];
  const first = file(asked, "plain", lines(...asked.says));

  test("leaves that out and says so, whichever comes first, in files and mailboxes", async () => {
    for (const names of [["a.eml", "b.eml"] as const, ["b.eml", "a.eml"] as const]) {
      const { documents, leftOut } = await read({ [names[0]]: text, [names[1]]: first });
      const reply = documents.find(({ title }) => title === "Re: Lease")!;
      expect(missingIn([reply], asked.says)).toEqual(asked.says);
      expect(missingIn([reply], answered.says)).toEqual([]);
      expect(leftOut).toMatchObject([{ what: "earlier mails", count: 1, uri: reply.uri }]);
    }
    const inBox = (mail: string) => `From anna@example.com Mon Mar  4 09:12:00 2024\n${mail.replace(/\r/gu, "")}\n`;
    // The mail that is answered stands behind its reply here, or in another mailbox.
    const ways: readonly Readonly<Record<string, string>>[] = [
      { "a.mbox": inBox(text) + inBox(first) },
      { "a.mbox": inBox(text), "b.mbox": inBox(first) },
    ];
    for (const boxes of ways) {
      const { documents, leftOut } = await read(boxes);
      expect(documents.length).toBe(2);
      expect(missingIn([documents[0]!], asked.says)).toEqual(asked.says);
      expect(leftOut).toMatchObject([{ what: "earlier mails", count: 1 }]);
    }
  });

  test("leaves it out in an archive where it was read before, and keeps it where it comes later", async () => {
    for (const [inOrder, missing] of [
      [[first, text], asked.says],
      [[text, first], []],
    ] as const) {
      const archive = zipSync({ "a.eml": strToU8(inOrder[0]), "b.eml": strToU8(inOrder[1]) });
      const { documents } = await read({ "mails.zip": archive });
      const reply = documents.find(({ title }) => title === "Re: Lease")!;
      expect([documents.length, missingIn([reply], asked.says)]).toEqual([2, missing]);
    }
  });

  test("leaves it out where a change of the reply alone is read", async () => {
    const folder = await temporaryFolder({ "a.eml": text, "b.eml": first });
    const changed = readFolder(folder).files!.only(new Set([join(folder, "a.eml")]));
    const [reply, ...others] = await collect(changed.read(createRunContext()));
    expect([missingIn([reply!], asked.says), others]).toEqual([asked.says, []]);
  });

  test("keeps it where only a notice names that mail, which was not delivered", async () => {
    const notice = `From: postmaster@example.com\nTo: anna@example.com\nSubject: Undelivered\n\nMessage-ID: <${asked.id}>\nwas refused.\n`;
    const inBox = `From postmaster Mon Mar  4 09:12:00 2024\n${notice}`;
    for (const [name, content] of [
      ["b.eml", notice],
      ["b.mbox", inBox],
    ] as const) {
      const { documents, leftOut } = await read({ "a.eml": text, [name]: content });
      const reply = documents.find(({ title }) => title === "Re: Lease")!;
      expect([missingIn([reply], asked.says), leftOut]).toEqual([[], []]);
    }
  });

  test("keeps it where replies are to be kept, and where the mail that is answered is another", async () => {
    const kept = await read({ "a.eml": text, "b.eml": first }, { replies: "keep" });
    const reply = kept.documents.find(({ title }) => title === "Re: Lease")!;
    expect([missingIn([reply], asked.says), kept.leftOut]).toEqual([[], []]);
    const other = await read({ "a.eml": text, "b.eml": first.replace(asked.id, "other@example.com") });
    const alone = other.documents.find(({ title }) => title === "Re: Lease")!;
    expect([missingIn([alone], asked.says), other.leftOut]).toEqual([[], []]);
  });

  test("is found by who wrote it, when, to whom and about what", async () => {
    const { documents } = await read({ "a.eml": text });
    expect(documents[0]!.text.split("\n").slice(0, 5)).toEqual([
      "From: Paul Ortega <paul@example.com>",
      "To: team@example.com",
      "Date: 2024-03-05 13:03 UTC",
      "Subject: Re: Lease",
      "",
    ]);
  });
});
