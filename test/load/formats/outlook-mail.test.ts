import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { heavyLoaders } from "../../../src/load/formats/heavy-loaders.js";
import { readAll } from "../../support/read-all.js";
import { wordsBeyond } from "../../support/share-of-words.js";

const { signal } = new AbortController();
const load = async (bytes: Uint8Array) => heavyLoaders.msg({ path: "/x", uri: "file:///x", bytes }, signal);

describe("a mail of Outlook", () => {
  const { CFB } = createRequire(import.meta.url)("@e965/xlsx") as {
    CFB: {
      utils: { cfb_new(): object; cfb_add(file: object, path: string, content: Uint8Array): void };
      write(file: object, how: object): Uint8Array;
    };
  };
  const unicode = (text: string) => Buffer.from(text, "utf16le");

  /** Storages of MS-OXMSG: a stream for each property of variable length, named by its tag. */
  function msg(
    properties: Readonly<Record<string, Uint8Array>>,
    parts: Readonly<Record<string, Readonly<Record<string, Uint8Array>>>> = {},
  ) {
    const file = CFB.utils.cfb_new();
    const header = Buffer.alloc(32);
    header.writeUInt32LE(Object.keys(parts).filter((name) => name.includes("recip")).length, 16);
    header.writeUInt32LE(Object.keys(parts).filter((name) => name.includes("attach")).length, 20);
    CFB.utils.cfb_add(file, "/__properties_version1.0", header);
    for (const [tag, content] of Object.entries(properties)) CFB.utils.cfb_add(file, `/__substg1.0_${tag}`, content);
    for (const [name, streams] of Object.entries(parts)) {
      for (const [stream, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${name}/${stream}`, content);
    }
    return CFB.write(file, { type: "buffer" });
  }

  const outlook = msg(
    {
      "001A001F": unicode("IPM.Note"),
      "0037001F": unicode("Lease of the office"),
      "0C1A001F": unicode("Anna Berg"),
      "5D01001F": unicode("anna@example.com"),
      "1000001F": unicode(
        "The lease ends in May.\r\n\r\nFrom: Paul\r\nSent: Monday\r\nTo: Anna\r\nSubject: Lease\r\n\r\nWhen does it end?",
      ),
      "1035001F": unicode("<m1@example.com>"),
      "007D001F": unicode(
        "Date: Tue, 5 Mar 2024 14:03:21 +0000\r\nIn-Reply-To: <m0@example.com>\r\nReferences: <root@example.com>\r\n <m0@example.com>\r\n",
      ),
    },
    {
      "__attach_version1.0_#00000000": {
        "__properties_version1.0": Buffer.alloc(8),
        "__substg1.0_3707001F": unicode("terms.csv"),
        "__substg1.0_37010102": Buffer.from("id,clause\n1,Rent is due monthly\n"),
      },
    },
  );

  test("has its head, the mail that it answers and that stands nowhere else, its thread and its attachments", async () => {
    const { documents, failures } = await readAll("lease.msg", outlook);
    expect(failures).toEqual([]);
    expect(documents.map(({ uri, title, text }) => [uri, title, text])).toEqual([
      [
        "lease.msg",
        "Lease of the office",
        expect.stringMatching(/^From: Anna Berg .*\n\nThe lease ends in May\..*When does it end\?$/s),
      ],
      ["lease.msg#terms.csv#1", undefined, "clause: Rent is due monthly"],
    ]);
    expect(documents[0]!.metadata).toMatchObject({
      from: "Anna Berg <anna@example.com>",
      messageId: "m1@example.com",
      inReplyTo: "m0@example.com",
      thread: "root@example.com",
      attachments: ["terms.csv"],
    });
  });

  test("is read in the code page that it names, and its HTML in the one that that declares", async () => {
    const read = async (name: string) => {
      const bytes = readFileSync(new URL(`../../../test/fixtures/mail/msg/${name}`, import.meta.url));
      return load(bytes);
    };
    expect(await read("ansi-cyrillic.msg")).toMatchObject({
      title: "Прилив и отлив",
      text: expect.stringContaining("Выход через шлюз закрыт до полудня."),
      metadata: { from: "Анна Петрова <anna@harbour.example>" },
    });
    expect((await read("html-windows1252.msg")).text).toContain("| Schleuse Süd | 7:30 |");
  });

  test("that is cut or changed anywhere ends as a failure or a part of it", async () => {
    const { text } = await load(outlook);
    let failures = 0;
    for (let at = 512; at < outlook.length; at += 331) {
      const changed = Buffer.from(outlook);
      changed.fill(0xa5, at, at + 8);
      await load(changed).catch((error: Error) => expect(error.name).toBe("LoadError"));
      const part = await load(outlook.slice(0, at)).catch((error: Error) => {
        expect(error.name).toBe("LoadError");
        failures++;
        return { text: "" };
      });
      expect(wordsBeyond(part.text, text), `of ${at} bytes`).toEqual([]);
    }
    expect(failures).toBeGreaterThan(0);
    await expect(load(Buffer.from("words"))).rejects.toThrow("is text by its first bytes");
  });
});
