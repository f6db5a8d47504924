import { imageLimits } from "../contract/media.js";
import { OptionsError } from "../core/errors.js";

/** Pictures that one question may have, as many as a request for a video may refer to. */
const maxImages = imageLimits.maxCount;

/** All pictures of a question together: in base64 they stay below the 64 MiB that a request may have. */
const maxTotalBytes = 45 * 1024 * 1024;

const dataAddress = /^data:image\/([a-z]+);base64,([A-Za-z0-9+/]*={0,2})$/;

/** A picture as a question has it. @throws OptionsError for bytes that are no picture, named as `name`. */
export function imageAddress(bytes: Uint8Array, name: string): string {
  const format = formatOf(bytes);
  if (format === undefined) throw new OptionsError("options", `${name} ${notTaken}`, { option: "images" });
  return `data:image/${format};base64,${Buffer.from(bytes).toString("base64")}`;
}

/**
 * Checks the pictures of a question before anything is sent.
 *
 * @throws OptionsError with the number of the picture for one that is none, is too large, or is of another format than it says.
 */
export function checkImages(call: string, images: readonly string[]): void {
  const refuse = (problem: string) => new OptionsError("options", problem, { call, option: "images" });
  if (images.length > maxImages) {
    throw refuse(`the question has ${images.length} pictures, and at most ${maxImages} are taken: leave some out`);
  }
  let total = 0;
  for (const [index, image] of images.entries()) {
    const name = `picture ${index + 1} of the question`;
    if (/^https?:\/\/\S+$/.test(image)) continue;
    const [, declared = "", base64 = ""] = dataAddress.exec(image) ?? [];
    if (declared === "") {
      const example = "data:image/png;base64,…, or an http(s) address";
      throw refuse(`${name} is ${JSON.stringify(image.slice(0, 40))}: write it as ${example}`);
    }
    const bytes = Buffer.from(base64, "base64");
    total += bytes.length;
    if (total > maxTotalBytes) {
      throw refuse(`the pictures have ${total} bytes, and at most ${maxTotalBytes} are taken: make them smaller`);
    }
    const format = formatOf(bytes);
    if (format === undefined) throw refuse(`${name} ${notTaken}`);
    if (format !== declared) {
      throw refuse(`${name} says that it is image/${declared}, and its bytes are ${format}: say image/${format}`);
    }
  }
}

const notTaken = `is damaged, or of another format than ${imageLimits.formats.join(", ")}: convert it`;

/** The first bytes of each format. Whether the rest is whole, the service says: reading it here would load six readers. */
const signatures: readonly (readonly [format: (typeof imageLimits.formats)[number], start: RegExp])[] = [
  ["jpeg", /^\xff\xd8\xff/],
  ["png", /^\x89PNG\r\n/],
  ["webp", /^RIFF[^]{4}WEBP/],
  ["bmp", /^BM[^]{12}/],
  ["tiff", /^(?:II\*|MM[^]\*)/],
  ["gif", /^GIF8[79]a/],
];

function formatOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return signatures.find(([, signature]) => signature.test(start))?.[0];
}
