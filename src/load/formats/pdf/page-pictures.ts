import type { FileToLoad } from "../loader.js";
import type { PicturePlace } from "../recognized-pages.js";
import { withPdf } from "./pdf.js";
import { encodeGreyPng, type GreyPicture } from "./grey-png.js";

/** Pixels of all pictures of a page that are decoded: an A4 page at 600 dots to the inch has 35 million. */
const maxPixels = 50_000_000;
/** Smaller pictures are ornaments, and have no words. */
const minSide = 16;

/** The parts of the PDF reader's lists that are used here. */
interface DecodedPicture {
  readonly width: number;
  readonly height: number;
  /** Bits, three bytes or four bytes a pixel; the name of an object for a mask that several pages share. */
  readonly data?: Uint8Array | Uint8ClampedArray | string;
}
interface Objects {
  readonly get: (name: string, then: (found: DecodedPicture | null) => void) => void;
}

/** A picture with its place on the page, `[a, b, c, d, x, y]` as PDF writes it. */
interface PlacedPicture {
  readonly picture: GreyPicture;
  readonly transform: Transform;
}

/** A picture of a page as a file, upright, with its box on the page as a reader shows it. */
export interface PagePicture {
  readonly bytes: Uint8Array;
  readonly place: PicturePlace;
}
type Transform = readonly [number, number, number, number, number, number];

/**
 * The pictures on pages of a PDF, as PNG files in shades of grey, upright: the pages of a scan. Strips of the same width,
 * in which scanners write a page, are one picture.
 *
 * @param numbers of the pages, from 1
 */
export function pagePictures(
  file: FileToLoad,
  numbers: readonly number[],
  signal: AbortSignal,
  onProgress: () => void,
): Promise<PagePicture[][]> {
  return withPdf(file, signal, maxPixels, async (pdf, OPS) => {
    const pages: PagePicture[][] = [];
    for (const number of numbers) {
      const page = await pdf.getPage(number);
      const { fnArray: operators, argsArray } = await page.getOperatorList();
      const object = (name: string) =>
        new Promise<DecodedPicture | null>((resolve) =>
          ((name.startsWith("g_") ? page.commonObjs : page.objs) as Objects).get(name, resolve),
        );
      const placed: PlacedPicture[] = [];
      const saved: Transform[] = [];
      let transform = turned(page.rotate);
      let left = maxPixels;
      for (const [index, operator] of operators.entries()) {
        const given = argsArray[index] as readonly unknown[];
        if (operator === OPS.save || operator === OPS.paintFormXObjectBegin) saved.push(transform);
        if (operator === OPS.transform) transform = product(transform, given as unknown as Transform);
        if (operator === OPS.paintFormXObjectBegin && given[0]) transform = product(transform, given[0] as Transform);
        if (operator === OPS.restore || operator === OPS.paintFormXObjectEnd) transform = saved.pop() ?? transform;
        const isPicture = operator === OPS.paintImageXObject || operator === OPS.paintInlineImageXObject;
        if (!isPicture && operator !== OPS.paintImageMaskXObject) continue;
        const decoded = typeof given[0] === "string" ? await object(given[0]) : (given[0] as DecodedPicture);
        if (!decoded || Math.min(decoded.width, decoded.height) < minSide) continue;
        const data = typeof decoded.data === "string" ? (await object(decoded.data))?.data : decoded.data;
        left -= decoded.width * decoded.height;
        if (left < 0) break;
        const picture = data === undefined || typeof data === "string" ? undefined : greyOf({ ...decoded, data });
        if (picture) placed.push({ picture, transform });
        onProgress();
      }
      const edges = edgesOf(turned(page.rotate), page.view);
      pages.push(
        joinStrips(placed).map(({ picture, transforms }) => ({
          bytes: encodeGreyPng(picture),
          place: placeOf(transforms, edges, picture),
        })),
      );
      page.cleanup();
      onProgress();
    }
    return pages;
  });
}

/** The transformation of a page that is shown turned clockwise by so many degrees. */
function turned(degrees: number): Transform {
  const [cosine, sine] = [[1, 0, -1, 0][degrees / 90] ?? 1, [0, -1, 0, 1][degrees / 90] ?? 0];
  return [cosine, sine, -sine, cosine, 0, 0];
}

/** The transformation `inner` and then `outer`. */
function product([a, b, c, d, e, f]: Transform, [g, h, i, j, k, l]: Transform): Transform {
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

function greyOf({ width, height, data }: DecodedPicture & { readonly data: Uint8Array | Uint8ClampedArray }) {
  const grey = new Uint8Array(width * height);
  const channels = data.length / grey.length;
  if (channels === 3 || channels === 4) {
    for (let index = 0, from = 0; index < grey.length; index++, from += channels) {
      const [red, green, blue] = [data[from]!, data[from + 1]!, data[from + 2]!];
      const opacity = channels === 4 ? data[from + 3]! / 255 : 1;
      // The paper below is white.
      grey[index] = 255 + opacity * (0.299 * red + 0.587 * green + 0.114 * blue - 255);
    }
    return { width, height, grey };
  }
  // A bit a pixel, rows of whole bytes; in a mask, ink is 0 too.
  const rowBytes = (width + 7) >> 3;
  if (data.length < rowBytes * height) return undefined;
  for (let row = 0, position = 0; row < height; row++) {
    for (let column = 0; column < width; column++, position++) {
      grey[position] = (data[row * rowBytes + (column >> 3)]! >> (7 - (column & 7))) & 1 ? 255 : 0;
    }
  }
  return { width, height, grey };
}

interface Edges {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** The edges of a rectangle that is transformed, on a plane whose y grows upwards. */
function edgesOf([a, b, c, d, e, f]: Transform, [x0, y0, x1, y1]: readonly number[]): Edges {
  const corners = [x0!, x1!].flatMap((x) => [y0!, y1!].map((y) => [a * x + c * y + e, b * x + d * y + f] as const));
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  return { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
}

/** The box of a picture, which is drawn in one or more unit squares, in shares of its page. */
function placeOf(transforms: readonly Transform[], page: Edges, { width, height }: GreyPicture): PicturePlace {
  const drawn = transforms.map((transform) => edgesOf(transform, [0, 0, 1, 1]));
  const [across, down] = [page.right - page.left, page.top - page.bottom];
  return {
    left: (Math.min(...drawn.map(({ left }) => left)) - page.left) / across,
    right: (Math.max(...drawn.map(({ right }) => right)) - page.left) / across,
    top: (page.top - Math.max(...drawn.map(({ top }) => top))) / down,
    bottom: (page.top - Math.min(...drawn.map(({ bottom }) => bottom))) / down,
    pixels: { width, height },
  };
}

interface JoinedPicture {
  readonly picture: GreyPicture;
  readonly transforms: readonly Transform[];
}

/** The pictures upright, and those of the same width in one, from the top. */
function joinStrips(placed: readonly PlacedPicture[]): JoinedPicture[] {
  const top = ({ transform: [, b, , d, , f] }: PlacedPicture) => f + Math.max(0, b) + Math.max(0, d);
  const byWidth = new Map<number, PlacedPicture[]>();
  for (const placement of placed.toSorted((one, other) => top(other) - top(one))) {
    const strip = { picture: upright(placement), transform: placement.transform };
    const { width } = strip.picture;
    byWidth.set(width, [...(byWidth.get(width) ?? []), strip]);
  }
  return [...byWidth].map(([width, strips]) => {
    const pictures = strips.map(({ picture }) => picture);
    const height = pictures.reduce((sum, picture) => sum + picture.height, 0);
    const grey = pictures.length === 1 ? pictures[0]!.grey : Buffer.concat(pictures.map((picture) => picture.grey));
    return { picture: { width, height, grey }, transforms: strips.map(({ transform }) => transform) };
  });
}

/** The picture as it is seen: turned by the nearest quarter, and mirrored where the page mirrors it. */
function upright({ picture, transform: [a, b, c, d] }: PlacedPicture): GreyPicture {
  const quarters = (Math.round(Math.atan2(b, a) / (Math.PI / 2)) + 4) % 4;
  const isMirrored = a * d - b * c < 0;
  if (quarters === 0 && !isMirrored) return picture;
  const { width: across, height: down, grey } = picture;
  const isSideways = quarters % 2 === 1;
  const [width, height] = isSideways ? [down, across] : [across, down];
  const seen = new Uint8Array(grey.length);
  for (let y = 0, index = 0; y < height; y++) {
    for (let x = 0; x < width; x++, index++) {
      // The place in the picture from which this one is turned, counter-clockwise.
      const [column, line] = [
        [x, y],
        [across - 1 - y, x],
        [across - 1 - x, down - 1 - y],
        [y, down - 1 - x],
      ][quarters]!;
      seen[index] = grey[(isMirrored ? down - 1 - line! : line!) * across + column!]!;
    }
  }
  return { width, height, grey: seen };
}
