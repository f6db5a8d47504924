import { LoadError } from "../../core/errors.js";
import type { RowFile } from "./loader.js";

/**
 * All bytes of a file whose reader looks at its end first.
 *
 * @throws LoadError (`too-large`) when it has more than `maxBytes`.
 */
export async function bufferedBody(
  { uri, chunks }: RowFile,
  maxBytes: number,
  hint = "raise it, or split the file",
): Promise<Buffer> {
  const held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.length;
    if (size > maxBytes) {
      const message = `${uri} has more than ${maxBytes} bytes, which is maxFileBytes: ${hint}`;
      throw new LoadError("too-large", uri, message, { option: "maxFileBytes" });
    }
  }
  return Buffer.concat(held);
}
