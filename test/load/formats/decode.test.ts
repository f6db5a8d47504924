import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LoadError } from "../../../src/core/errors.js";
import { loadPlainText } from "../../../src/load/formats/plain-text.js";
import { decodeText } from "../../../src/load/formats/decode.js";

const decode = (bytes: Uint8Array, declared?: string) => decodeText({ bytes, uri: "file:///x" }, declared);

function utf16(text: string, littleEndian: boolean): Uint8Array {
  const bytes = Buffer.from(text, "utf16le");
  return littleEndian ? bytes : bytes.swap16();
}

function utf32(text: string, littleEndian: boolean): Uint8Array {
  const points = Array.from(text, (character) => character.codePointAt(0)!);
  const view = new DataView(new ArrayBuffer(points.length * 4));
  for (const [index, point] of points.entries()) view.setUint32(index * 4, point, littleEndian);
  return new Uint8Array(view.buffer);
}

const encodings: readonly (readonly [string, (text: string) => Uint8Array])[] = [
  ["utf-8", (text) => Buffer.from(text)],
  ["utf-16le", (text) => utf16(text, true)],
  ["utf-16be", (text) => utf16(text, false)],
  ["utf-32le", (text) => utf32(text, true)],
  ["utf-32be", (text) => utf32(text, false)],
];

const german = "Die schöne Frau trinkt für 15,50 € ihren Kaffee und sagt: „köstlich“ – übrigens auf Spanisch año.\n";
const chinese = "本文档提供了关于发行版的常见问题和解答，由自由软件基金会的成员编写。第一章介绍了基本定义。\n";

describe("decodeText", () => {
  test.each(encodings)("any text with a byte order mark comes back from %s, without the mark", (encoding, encode) => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        // A second mark would be a character of its own.
        fc.pre(!text.startsWith("\u{feff}") && !(encoding === "utf-16le" && text.startsWith("\0")));
        expect(decode(encode(`\u{feff}${text}`))).toEqual({ text, encoding });
      }),
    );
  });

  test.each(encodings)("prose without a byte order mark is recognised as %s", (encoding, encode) => {
    for (const text of ["Plain words in a line.\nAnd another.\n", german.repeat(2), `${chinese}And some Latin.\n`]) {
      expect(decode(encode(text))).toEqual({ text, encoding });
    }
  });

  test("Western text in windows-1252 keeps its euro signs, quotes and dashes", () => {
    const bytes = Buffer.from(
      german.replace("€", "\x80").replace("„", "\x84").replace("“", "\x93").replace("–", "\x96"),
      "latin1",
    );
    expect(decode(bytes)).toEqual({ text: german, encoding: "windows-1252" });
    expect(decode(bytes, "iso-8859-1").text).toBe(german);
  });

  test("a few words of French are not mistaken for Baltic, nor Polish for French", () => {
    expect(decode(Buffer.from("id,text\n1,caf\xe9 cr\xe8me br\xfbl\xe9e\n", "latin1")).text).toContain(
      "café crème brûlée",
    );
    expect(decode(Buffer.from("\xa3\xf3d\xbc jest pi\xeakna", "latin1")).text).toBe("Łódź jest piękna");
  });

  test("Chinese text in GB18030 is recognised by its byte frequencies", () => {
    // 自由软件, 文件, 系统, 用户, 中国 and a comma, repeated, as GB2312 pairs.
    const line = "d7d4d3c9c8edbcfea3acced2c3c7cab9d3c3cec4bcfecfb5cdb3a3acd3c3bba7d4dad6d0b9fab5c4cab1bae2a1a3";
    const { text, encoding } = decode(Buffer.from(line.repeat(8), "hex"));
    expect(encoding).toBe("gb18030");
    expect(text).toContain("自由软件，我们使用文件系统，用户在中国的");
  });

  test("a declared encoding is used only when the bytes are valid in it", () => {
    const bytes = Buffer.from("bcbaee", "hex");
    expect(decode(bytes, "windows-1251")).toEqual({ text: "јєо", encoding: "windows-1251" });
    expect(decode(Buffer.from("schön"), "windows-31j-nonsense")).toEqual({ text: "schön", encoding: "utf-8" });
    expect(decode(Buffer.from(german), "utf-8").text).toBe(german);
  });

  test("a few broken bytes cost their characters and a warning, not the encoding", () => {
    const bytes = Buffer.concat([Buffer.from(chinese), Uint8Array.of(0xe6), Buffer.from(chinese)]);
    expect(decode(bytes)).toEqual({
      text: `${chinese}\u{fffd}${chinese}`,
      encoding: "utf-8",
      warning: "1 broken UTF-8 sequences were replaced",
    });
  });

  test("any bytes decode or throw a LoadError, and valid UTF-8 decodes to its text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          expect(decode(bytes).text.length).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          expect(error).toMatchObject({ name: "LoadError", code: "binary", uri: "file:///x" });
        }
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[\p{L}\p{N} ,.\n]*$/u), (text) => {
        expect(decode(Buffer.from(text)).text).toBe(text);
      }),
    );
  });

  test("an empty file is an empty text", () => {
    expect(decode(new Uint8Array()).text).toBe("");
  });

  test.each<[string, Uint8Array, string]>([
    ["a PNG image", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), "a PNG file"],
    ["a PDF whose first page is all letters", Buffer.from("%PDF-1.4\n%only letters so far"), "a PDF file"],
    ["zero bytes anywhere", Buffer.from("text\0\0\0text\0\x01\x02"), "a NUL byte at 4"],
    ["control characters", Uint8Array.from({ length: 100 }, (_, index) => (index % 5 === 0 ? 1 : 65)), "20% control"],
    ["zero bytes in pairs of noise", Uint8Array.from({ length: 256 }, (_, index) => (index * 7919) % 5), "a NUL byte"],
  ])("%s is not text", (_, bytes, reason) => {
    expect(() => decode(bytes)).toThrow(LoadError);
    expect(() => decode(bytes)).toThrow(`file:///x is not text: ${reason}`);
  });

  test("coloured logs and form feeds are text", () => {
    const log = "\x1b[31merror\x1b[0m\f\n".repeat(20);
    expect(decode(Buffer.from(log)).text).toBe(log);
  });
});

describe("an XML file", () => {
  const load = (bytes: Uint8Array) => loadPlainText({ path: "/x.xml", uri: "file:///x.xml", bytes });
  const cyrillic = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
  const declaring = (label: string, content: Uint8Array) =>
    Buffer.concat([Buffer.from(`<?xml version="1.0" encoding="${label}"?>\n<a>`), content, Buffer.from("</a>")]);

  test("is read in the encoding that it declares", () => {
    expect(load(declaring("windows-1251", cyrillic)).text).toContain("<a>\u041f\u0440\u0438\u0432\u0435\u0442</a>");
    expect(load(declaring("ISO-8859-2", Buffer.from([0xb3, 0xf3, 0x64, 0xbc]))).text).toContain(
      "<a>\u0142\u00f3d\u017a</a>",
    );
  });

  test("is not in an encoding whose declaration cannot be true, or that nobody knows", () => {
    const words = Buffer.from("\u00e9t\u00e9");
    for (const label of ["utf-16", "ISO-8859-1", "x-unknown"]) {
      expect(load(declaring(label, words)).text).toContain("<a>\u00e9t\u00e9</a>");
    }
  });
});
