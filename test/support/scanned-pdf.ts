import { deflateSync } from "node:zlib";
import { pdfOf } from "./tiny-pdf.js";

/** A picture in shades of grey, a byte a pixel. */
export interface GreyPixels {
  readonly width: number;
  readonly height: number;
  readonly grey: Uint8Array;
}

export interface ScannedPage {
  /** The pictures, each with the matrix that places its unit square on the page. */
  readonly pictures?: readonly (readonly [matrix: readonly number[], picture: GreyPixels | Uint8Array])[];
  /** Whether they are masks of one bit a pixel, as fax machines make them. */
  readonly isMask?: boolean;
  /** A line of text, as a program would have printed it. */
  readonly text?: string;
  /** Degrees by which a reader shall turn it, clockwise. */
  readonly rotate?: number;
}

/** A PDF as scanners make them: pages of pictures. A JPEG is given as its bytes, and is 886 by 438 pixels. */
export function scannedPdf(pages: readonly ScannedPage[]): Uint8Array {
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"];
  const kids: string[] = [];
  for (const { pictures = [], isMask = false, text, rotate = 0 } of pages) {
    const names = pictures.map(([, picture], index) => {
      objects.push(pictureObject(picture, isMask));
      return `/P${index} ${objects.length} 0 R`;
    });
    const content = [
      ...pictures.map(([matrix], index) => `q ${matrix.join(" ")} cm /P${index} Do Q`),
      ...(text === undefined ? [] : [`BT /F1 10 Tf 50 750 Td (${text}) Tj ET`]),
    ].join("\n");
    objects.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    const resources = `<< /XObject << ${names.join(" ")} >> /Font << /F1 3 0 R >> >>`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate ${rotate} /Contents ${objects.length} 0 R /Resources ${resources} >>`,
    );
    kids.push(`${objects.length} 0 R`);
  }
  objects[1] = `<< /Type /Pages /Count ${kids.length} /Kids [${kids.join(" ")}] >>`;
  return pdfOf(objects);
}

function pictureObject(picture: GreyPixels | Uint8Array, isMask: boolean): string {
  if (picture instanceof Uint8Array) {
    const data = Buffer.from(picture).toString("latin1");
    return `<< /Type /XObject /Subtype /Image /Width 886 /Height 438 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${data.length} >>\nstream\n${data}\nendstream`;
  }
  const { width, height, grey } = picture;
  const data = deflateSync(isMask ? bitsOf(picture) : grey).toString("latin1");
  const kind = isMask ? "/ImageMask true /BitsPerComponent 1" : "/ColorSpace /DeviceGray /BitsPerComponent 8";
  return `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} ${kind} /Filter /FlateDecode /Length ${data.length} >>\nstream\n${data}\nendstream`;
}

/** A bit a pixel, 0 for ink. */
function bitsOf({ width, height, grey }: GreyPixels): Uint8Array {
  const rowBytes = Math.ceil(width / 8);
  const bits = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) if (grey[y * width + x]! > 128) bits[y * rowBytes + (x >> 3)]! |= 128 >> (x & 7);
  }
  return bits;
}
