import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { strToU8, zipSync } from "fflate";
import { heavyLoaders } from "../../../src/load/formats/heavy-loaders.js";
import { withoutQuotedLines } from "../../../src/load/formats/mail/quoted-replies.js";
import { readFile } from "../../../src/load/sources/read-file.js";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { readAll } from "../../support/read-all.js";
import { wordsBeyond } from "../../support/share-of-words.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

const { signal } = new AbortController();
const load = async (text: string) =>
  heavyLoaders.eml({ path: "/x", uri: "file:///x", bytes: Buffer.from(text) }, signal);

/** The text below the lines that say who wrote to whom. */
const below = (text: string) => text.replace(/^(?:(?:From|To|Cc|Date|Subject): .*\n)+\n/, "");

const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64").replace(/.{76}/g, "$&\r\n");
const crlf = (text: string) => text.replace(/\r?\n/g, "\r\n");

const head = `From: =?UTF-8?Q?J=C3=BCrgen_Wei=C3=9F?= <juergen@example.com>
To: "Anna Berg" <anna@example.com>, team@example.com
Cc: Paul <paul@example.com>
Subject: =?iso-8859-1?Q?Re=3A_Budget_f=FCr_2024?=
Date: Tue, 5 Mar 2024 14:03:21 +0100
Message-ID: <three@example.com>
In-Reply-To: <two@example.com>
References: <one@example.com>
 <two@example.com>
MIME-Version: 1.0
`;

const reply = crlf(`${head}Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

The travel budget stays at 12=C2=A0000 =E2=82=AC.

On Mon, Mar 4, 2024 at 9:12 AM Anna Berg <anna@example.com>
wrote:
> Dear J=C3=BCrgen,
> what is the travel budget?
>> older still
`);

describe("a mail", () => {
  test("has its own words, subject, sender, receivers, date and thread", async () => {
    const lines = [
      "From: Jürgen Weiß <juergen@example.com>",
      "To: Anna Berg <anna@example.com>, team@example.com",
      "Cc: Paul <paul@example.com>",
      "Date: 2024-03-05 13:03 UTC",
      "Subject: Re: Budget für 2024",
    ];
    const own = `${lines.join("\n")}\n\nThe travel budget stays at 12\u00a0000 €.`;
    const answered = "On Mon, Mar 4, 2024 at 9:12 AM Anna Berg <anna@example.com>\nwrote:";
    const quoted = "> Dear Jürgen,\n> what is the travel budget?\n>> older still";
    expect(await load(reply)).toEqual({
      text: own,
      withEarlierMails: { text: `${own}\n\n${answered}\n${quoted}`, answersTo: ["two@example.com"] },
      mediaType: "text/plain",
      anchors: [],
      title: "Re: Budget für 2024",
      metadata: {
        from: "Jürgen Weiß <juergen@example.com>",
        to: ["Anna Berg <anna@example.com>", "team@example.com"],
        cc: ["Paul <paul@example.com>"],
        date: "2024-03-05T13:03:21Z",
        messageId: "three@example.com",
        inReplyTo: "two@example.com",
        thread: "one@example.com",
      },
      leftOut: [
        {
          what: "earlier mails",
          count: 1,
          example: "> Dear Jürgen, > what is the travel budget? >> older still",
        },
      ],
    });
  });

  test("that passes another on has all of that, whichever of six programs wrote it", async () => {
    const contract = "The rent is 1,200 euros a month.";
    const mail = (subject: string, body: string, type = "plain") =>
      load(crlf(`From: a@example.com\nSubject: ${subject}\nContent-Type: text/${type}; charset=utf-8\n\n${body}\n`));
    const forwards: Readonly<Record<string, readonly [subject: string, body: string, type?: string]>> = {
      Gmail: [
        "Fwd: Lease",
        `FYI\n\n---------- Forwarded message ---------\nFrom: Landlord <l@example.com>\nDate: Mon, 4 Mar 2024\nSubject: Lease\n\n${contract}`,
      ],
      "Apple Mail": [
        "Fwd: Lease",
        `FYI\n\n> Begin forwarded message:\n> \n> From: Landlord <l@example.com>\n> Date: 4 March 2024\n> \n> ${contract}`,
      ],
      Outlook: [
        "FW: Lease",
        `FYI\n\nFrom: Landlord <l@example.com>\nSent: Monday, 4 March 2024 09:12\nTo: a@example.com\nSubject: Lease\n\n${contract}`,
      ],
      "Outlook in German": [
        "WG: Miete",
        `FYI\n\n-----Ursprüngliche Nachricht-----\nVon: Landlord\nGesendet: Montag\n\n${contract}`,
      ],
      Thunderbird: [
        "Fwd: Lease",
        `FYI\n\n-------- Forwarded Message --------\nSubject: Lease\nDate: Mon, 4 Mar 2024\nFrom: Landlord\n\n${contract}`,
      ],
      "Outlook on the web": [
        "FW: Lease",
        `<p>FYI</p><div id="appendonsend"></div><div id="divRplyFwdMsg"><b>From:</b> Landlord</div><div>${contract}</div>`,
        "html",
      ],
    };
    for (const [program, [subject, body, type]] of Object.entries(forwards)) {
      const { text, leftOut } = await mail(subject, body, type);
      expect.soft(text, program).toContain("FYI");
      expect.soft(text, program).toContain(contract);
      expect.soft(leftOut, program).toBeUndefined();
    }
    const answered = await mail(
      "Re: Lease",
      `Here it is.\n\nOn Monday, Anna wrote:\n> Where is the lease?\n> I need it.\n\n${forwards["Gmail"]![1]}`,
    );
    expect(answered.text).toContain(contract);
    const answerAlone = await mail("Re: Lease", `Here it is.\n\n${forwards["Outlook"]![1].slice(5)}`);
    expect(below(answerAlone.text)).toBe("Here it is.");
    expect(answerAlone.leftOut).toMatchObject([{ what: "earlier mails", count: 1 }]);
  });

  test("that answers none keeps quoted lines and heads of mails: they stand nowhere else", async () => {
    const body = "The agenda:\n\nFrom: the office\nDate: 4 March\n\nRooms are booked.\n\n> a saying at the end";
    const { text, withEarlierMails } = await load(crlf(`From: a@example.com\nSubject: Agenda\n\n${body}\n`));
    expect([text, withEarlierMails]).toEqual([`From: a@example.com\nSubject: Agenda\n\n${body}`, undefined]);
  });

  test("in HTML is Markdown without the mail that it replies to, whichever program marked that", async () => {
    const html = (body: string) => load(crlf(`${head}Content-Type: text/html; charset=utf-8\n\n${body}`));
    const own =
      "<p>Agreed, see the table.</p><table><tr><th>Team</th><th>Days</th></tr><tr><td>Sales</td><td>12</td></tr></table>";
    const marks = [
      '<div class="gmail_quote"><div class="gmail_attr">On Monday Anna wrote:</div><blockquote>old words</blockquote></div>',
      '<div class="moz-cite-prefix">Am 4.3. schrieb Anna:</div><blockquote type="cite">old words</blockquote>',
      '<div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>From:</b> Anna</div><div>old words</div>',
      '<div class="yahoo_quoted">old words</div>',
    ];
    for (const mark of marks) {
      const { text, mediaType } = await html(`<html><body>${own}${mark}</body></html>`);
      expect.soft(text).toMatch(/Date: 2024-03-05 13:03 UTC {2}\nSubject: Re: Budget für 2024\n\nAgreed/);
      expect.soft(below(text)).toBe("Agreed, see the table.\n\n| Team | Days |\n| --- | --- |\n| Sales | 12 |");
      expect.soft(mediaType).toBe("text/markdown");
    }
    const forwarded = '<p>FYI</p><div class="gmail_quote">---------- Forwarded message ---------<br>The news.</div>';
    expect((await html(forwarded)).text).toContain("The news.");
    expect(below((await html(marks[3]!)).text)).toBe("old words");
  });

  test("has its attachments as documents of their own, by the readers of their formats, also inside an attached mail", async () => {
    const attached =
      crlf(`From: b@example.com\nSubject: Inner\nMessage-ID: <i@x>\nContent-Type: multipart/mixed; boundary=i

--i
Content-Type: text/plain

Words of the inner mail.
--i
Content-Type: text/csv; name="people.csv"
Content-Disposition: attachment; filename="people.csv"

id,name
7,Zoë
--i--
`);
    const outer = crlf(`${head}Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/related; boundary=r

--r
Content-Type: text/html

<p>See the report.</p><img src="cid:logo">
--r
Content-Type: image/png
Content-ID: <logo>
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--r--
--b
Content-Type: application/pdf; name="Report 1.pdf"
Content-Disposition: attachment; filename="Report 1.pdf"
Content-Transfer-Encoding: base64

${base64(tinyPdf([["Words of the report"]]))}
--b
Content-Type: application/octet-stream; name="tool.exe"
Content-Disposition: attachment; filename="tool.exe"
Content-Transfer-Encoding: base64

TVqQAAMAAAA=
--b
Content-Type: application/zip; name="all.zip"
Content-Disposition: attachment; filename="all.zip"
Content-Transfer-Encoding: base64

${base64(zipSync({ "docs/guide.md": strToU8("# Guide\n\nWords of the guide.") }))}
--b
Content-Type: message/rfc822
Content-Disposition: attachment

${attached}
--b--
`);
    const { documents, skipped, failures } = await readAll("mail.eml", outer);
    expect(documents.map(({ uri, title, text }) => [uri, title, below(text)])).toEqual([
      ["mail.eml", "Re: Budget für 2024", "See the report."],
      ["mail.eml#Report%201.pdf", "Report 1", "Words of the report"],
      ["mail.eml#all.zip#docs/guide.md", "Guide", "# Guide\n\nWords of the guide."],
      ["mail.eml#attachment-5.eml", "Inner", "Words of the inner mail."],
      ["mail.eml#attachment-5.eml#people.csv#7", "Zoë", "name: Zoë"],
    ]);
    expect(skipped).toEqual(["mail.eml#tool.exe"]);
    expect(failures).toEqual([]);
  });

  test("that is cut, nested a thousand deep, or has an endless header, ends without harm", async () => {
    const { text } = await load(reply);
    for (let end = 10; end < reply.length; end += 23) {
      const part = await load(reply.slice(0, end));
      // The cut may leave the line that begins the quoted mail half, and with it the quotation.
      // A head that is cut may name another day.
      expect(wordsBeyond(below(part.text), `${text} ${reply}`), `of ${end} characters`).toEqual([]);
      if (end < reply.indexOf("The travel")) expect(below(`${part.text}\n\n`).trim()).toBe("");
    }
    const deep = Array.from(
      { length: 1000 },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\n\n--b${level}\n`,
    );
    await expect(load(`Subject: deep\n${deep.join("")}`)).rejects.toThrow("is no mail that can be read");
    await expect(load(`Subject: ${"x".repeat(3_000_000)}`)).rejects.toThrow("is no mail that can be read");
    await expect(load("no header here")).rejects.toThrow("is text by its first bytes");
  });

  test("that a browser made of a page is one document, without its styles", async () => {
    const bytes = readFileSync(new URL("../../../test/fixtures/mail/mht/chromium-fees.mhtml", import.meta.url));
    const { documents, skipped } = await readAll("fees.mhtml", bytes);
    expect([documents.map(({ uri, title }) => [uri, title]), skipped]).toEqual([[["fees.mhtml", "Harbour fees"]], []]);
  });

  test("exported by Confluence as a Word document is the page in it", async () => {
    const page =
      crlf(`Date: Tue, 5 Mar 2024 14:03:21 +0000\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=p\nSubject: Exported From Confluence

--p
Content-Type: text/html; charset=UTF-8
Content-Transfer-Encoding: quoted-printable
Content-Location: file:///C:/exported.html

<html><head><title>Runbook</title></head><body><h1>Runbook</h1><p>Restart the =
queue first.</p></body></html>
--p--
`);
    const [document] = (await readAll("page.doc", page)).documents;
    expect(document!.text).toBe("# Runbook\n\nRestart the queue first.");
  });
});

describe("quoted replies in plain text", () => {
  test.each([
    ["an attribution and its quotation", "Yes.\n\nOn 4 March 2024, Anna wrote:\n> Is it?\n> Really?", "Yes."],
    ["German", "Ja.\n\nAm Montag, dem 4. März 2024, schrieb Anna Berg:\n\n> Stimmt das?", "Ja."],
    ["French", "Oui.\n\nLe lun. 4 mars 2024 à 09:12, Anna <a@x.fr> a écrit :\n> Vraiment ?", "Oui."],
    ["Chinese", "可以。\n\n在 2024年3月4日，安娜 写道：\n> 可以吗？", "可以。"],
    ["Outlook's divider", "Fine.\n\n-----Original Message-----\nFrom: Anna\nold", "Fine."],
    ["Outlook's head", "Fine.\n\nFrom: Anna Berg\nSent: Monday, March 4\nTo: me\nSubject: Budget\n\nold", "Fine."],
    ["no answer at all", "> only\n> quoted", "> only\n> quoted"],
    [
      "a short quotation that is answered",
      "> When?\nOn Friday.\n> Where?\nHere.",
      "> When?\nOn Friday.\n> Where?\nHere.",
    ],
    ["a long quotation above the answer", `${"> old\n".repeat(20)}New words.`, "New words."],
    [
      "a sentence that only looks like one",
      "From: the start it was clear.\nOn the wall she wrote:\nHello",
      "From: the start it was clear.\nOn the wall she wrote:\nHello",
    ],
  ])("%s", (_, text, own) => {
    expect(withoutQuotedLines(text)).toBe(own);
  });
});

describe("a mailbox", () => {
  const message = (id: string, body: string) =>
    `From anna@example.com Mon Mar  4 09:12:00 2024\nFrom: a@example.com\nSubject: ${id}\n${id === "none" ? "" : `Message-ID: <${id}@x>\n`}\n${body}\n\n`;

  test("has a document for each mail, by its id, also where two have the same or none, with the line that it starts on", async () => {
    const box =
      message("one", "First.\nFrom here on no new mail.\n>From a quoted start.") +
      message("none", "Second.") +
      message("one", "Third.");
    const { documents } = await readAll("box.mbox", box);
    expect(documents.map(({ uri, text, metadata }) => [uri, below(text), metadata!["line"]])).toEqual([
      ["box.mbox#one%40x", "First.\nFrom here on no new mail.\nFrom a quoted start.", 1],
      ["box.mbox#mail-2", "Second.", 10],
      ["box.mbox#one%40x;2", "Third.", 16],
    ]);
  });

  test("with a mail that is too long loses that one alone, and a file that is none says so", async () => {
    const folder = await temporaryFolder({ "a.mbox": message("one", "a".repeat(5000)) + message("two", "Short.") });
    const context = createRunContext();
    const documents = await collect(readFile(`${folder}/a.mbox`, { maxFileBytes: 2000 }).read(context));
    expect(documents.map(({ text }) => below(text))).toEqual(["Short."]);
    expect([...context.failures.values()].map(({ message: said }) => said)).toEqual([
      expect.stringContaining("line 1: the mail has more than 2000 bytes"),
    ]);
    expect((await readAll("b.mbox", "Hello\nyou\n")).failures).toEqual([expect.stringContaining("is no mailbox")]);
  });
});
