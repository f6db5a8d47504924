import { join } from "node:path";
import { expect, test } from "vitest";
import { latentFileFacts, readLatentFile, writeLatentFile } from "../../../src/store/latent/latent-file.js";
import { temporaryFolder } from "../temporary-folder.js";

test.each([7, 64, 1 << 20])("a latent model is read as it was written, in pieces of %d bytes", async (size) => {
  const model = {
    dimension: 2,
    explained: 0.5,
    numbers: new Map([
      ["one", 0],
      ["zwölf", 1],
    ]),
    weights: Float32Array.of(1.5, 2),
    places: Float32Array.of(1, 2, 3, 4),
  };
  const vectors = new Map([
    [3, Float32Array.of(0.25, -1)],
    [9, Float32Array.of(7, 8)],
    [10, Float32Array.of(0, 1)],
  ]);
  const path = join(temporaryFolder(), "latent.bin");
  await writeLatentFile(path, { model, vectors });
  const read = await readLatentFile(path, latentFileFacts({ model, vectors }), size);
  expect(read).toEqual({ model, vectors });
});
