export interface ImageHeader {
  readonly format: "PNG" | "GIF" | "BMP" | "WebP" | "JPEG";
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/** Format and size from an image's first bytes; `undefined` for anything else and for files that are cut off. */
export function readImageHeader(bytes: Buffer): ImageHeader | undefined {
  try {
    return png(bytes) ?? gif(bytes) ?? bmp(bytes) ?? webp(bytes) ?? jpeg(bytes);
  } catch (error) {
    // A read past the end: the file is shorter than its format says.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function png(bytes: Buffer): ImageHeader | undefined {
  if (bytes.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n") return undefined;
  return { format: "PNG", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gif(bytes: Buffer): ImageHeader | undefined {
  if (!/^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))) return undefined;
  return { format: "GIF", width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** Headers of 12 bytes have 16-bit sizes; the others' height is negative when rows run from the top. */
function bmp(bytes: Buffer): ImageHeader | undefined {
  if (bytes.toString("latin1", 0, 2) !== "BM") return undefined;
  if (bytes.readUInt32LE(14) === 12) {
    return { format: "BMP", width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) };
  }
  return { format: "BMP", width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) };
}

function webp(bytes: Buffer): ImageHeader | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WEBP") return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { format: "WebP", width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const packed = bytes.readUInt32LE(21);
      return { format: "WebP", width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { format: "WebP", width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Walks the markers up to the frame header, which is any of C0 to CF but C4, C8 and CC. */
function jpeg(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at < bytes.length;) {
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) at++;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker === 0xda) return undefined;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { format: "JPEG", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    } else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
