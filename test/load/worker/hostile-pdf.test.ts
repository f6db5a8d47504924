// In test:all alone: it reads files that take as long as they may, for 49 s.
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { citewell } from "../../support/citewell.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { pdfOf } from "../../support/tiny-pdf.js";

/** A string of PDF with so many characters that no engine keeps each of them in one array, and that nothing ends. */
const prefix = "BT /F1 10 Tf (";
const characters = 160_000_000;

/** Packed by the codes of LZW: each names all that was written before, and one more, and then the longest of them is repeated. */
function packedByLzw(): Buffer {
  const codes: { readonly code: number; readonly bits: number }[] = [];
  let [next, bits, hasPrevious] = [258, 9, false];
  const write = (code: number) => {
    codes.push({ code, bits });
    if (code === 256) return;
    if (hasPrevious) next++;
    hasPrevious = true;
    if (Number.isInteger(Math.log2(next + 1))) bits = Math.min(Math.log2(next + 1) + 1, 12);
  };
  write(256);
  for (const letter of Buffer.from(`${prefix}a`)) write(letter);
  const first = next;
  for (let code = first; code < 4095; code++) write(code);
  const longest = 4095 - first;
  for (let written = 0; written < characters; written += longest) write(4094);
  const packed: number[] = [];
  let [held, heldBits] = [0, 0];
  for (const each of codes) {
    held = (held << each.bits) | each.code;
    for (heldBits += each.bits; heldBits >= 8; heldBits -= 8) packed.push((held >> (heldBits - 8)) & 255);
    held &= (1 << heldBits) - 1;
  }
  return Buffer.from(packed);
}

function inAscii85(bytes: Buffer): Buffer {
  let text = "";
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    let value = bytes.readUInt32BE(at);
    let group = "";
    for (let digit = 0; digit < 5; digit++) {
      group = String.fromCharCode(33 + (value % 85)) + group;
      value = Math.floor(value / 85);
    }
    text += group === "!!!!!" ? "z" : group;
  }
  return Buffer.from(text);
}

/** A page whose content is that stream. */
function pdfWith(stream: Buffer, dictionary: string, trailer = "", ...more: readonly string[]): Uint8Array {
  return pdfOf(
    [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
      `<< /Length ${stream.length} ${dictionary} >>\nstream\n${stream.toString("latin1")}\nendstream`,
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
      ...more,
    ],
    trailer,
  );
}

function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, at) => at);
  const swap = (one: number, other: number) => ([state[one], state[other]] = [state[other]!, state[one]!]);
  for (let at = 0, j = 0; at < 256; at++) swap(at, (j = (j + state[at]! + key[at % key.length]!) & 255));
  let [i, j] = [0, 0];
  return Buffer.from(data).map((byte) => {
    i = (i + 1) & 255;
    j = (j + state[i]!) & 255;
    swap(i, j);
    return byte ^ state[(state[i]! + state[j]!) & 255]!;
  }) as Buffer;
}

const md5 = (...parts: readonly Uint8Array[]) => createHash("md5").update(Buffer.concat(parts)).digest();

/** Encrypted under the empty password, as PDF 1.1 says: the reader opens it without asking anybody. */
function encryptedPdf(stream: Buffer): Uint8Array {
  const padding = Buffer.from("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a", "hex");
  const owner = Buffer.alloc(32, 1);
  const key = md5(padding, owner, Buffer.from([252, 255, 255, 255]), Buffer.from([0])).subarray(0, 5);
  const user = rc4(key, padding);
  const ofContent = md5(key, Buffer.from([4, 0, 0, 0, 0])).subarray(0, 10);
  return pdfWith(
    rc4(ofContent, stream),
    "/Filter /FlateDecode",
    "/Encrypt 6 0 R /ID [<00> <00>]",
    `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${owner.toString("hex")}> /U <${user.toString("hex")}> >>`,
  );
}

test("no PDF ends the process, however far its streams unpack and whatever hides that", async () => {
  const packed = deflateSync(Buffer.concat([Buffer.from(prefix), Buffer.alloc(characters, "a")]));
  const files = {
    "lzw.pdf": pdfWith(inAscii85(packedByLzw()), "/Filter [/ASCII85Decode /LZWDecode]"),
    "encrypted.pdf": encryptedPdf(packed),
  };
  for (const bytes of Object.values(files)) expect(bytes.length).toBeLessThan(250_000);
  const folder = await temporaryFolder({
    ...files,
    "a.md": "Ships lie here.",
    "z.html": "<p>The river.".repeat(20_000),
  });
  const { exitCode, stdout, stderr } = await citewell([
    "index",
    folder,
    "--store",
    `${folder}/.store`,
    "--json",
    "--file-timeout",
    "120",
  ]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.any(String) });
  const { documents, failures } = JSON.parse(stdout) as {
    readonly documents: object;
    readonly failures: readonly { readonly uri: string; readonly error: string }[];
  };
  expect(documents).toMatchObject({ added: 2, failed: 2 });
  // From Node 22 on, the engine may hold such a string, and there is no text in it.
  for (const { error } of failures) expect(error).toMatch(/needs more than 1024 MB of memory to be read|holds no text/);
}, 180_000);
