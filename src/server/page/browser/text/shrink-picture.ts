/** Longer sides are made smaller, as models do, in pixels. */
const maxSide = 1344;

/** Longest data address, in characters: four of them, with the question, fit into a request of the server's usual limit. */
const maxCharacters = 440_000;

/** A picture file as a data address of a JPEG that models read, small enough to send; `undefined` for what is no picture. */
export async function shrinkPicture(file: Blob): Promise<string | undefined> {
  const picture = await createImageBitmap(file).catch(() => undefined);
  if (!picture) return undefined;
  try {
    let scale = Math.min(1, maxSide / Math.max(picture.width, picture.height));
    for (;;) {
      const address = drawn(picture, scale);
      if (address.length <= maxCharacters || scale < 0.05) return address;
      scale *= 0.8;
    }
  } finally {
    picture.close();
  }
}

function drawn(picture: ImageBitmap, scale: number): string {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const context = canvas.getContext("2d")!;
  // A JPEG has no transparency: without this, it would become black.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.85);
}
