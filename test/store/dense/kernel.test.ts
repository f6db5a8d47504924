import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import createWabt from "wabt";
import * as exact from "../../../src/store/dense/flat/kernel.js";
import * as quantized from "../../../src/store/dense/graph/quantized/kernel.js";

test.each([
  ["flat/", exact.kernelBytes()],
  ["graph/quantized/", quantized.kernelBytes()],
])("the bytes of the kernel in %s are those that its source assembles to", async (folder, bytes) => {
  const source = new URL(`../../../src/store/dense/${folder}kernel.wat`, import.meta.url);
  const wabt = await createWabt();
  const features = { simd: true, threads: true };
  const { buffer } = wabt.parseWat("kernel.wat", readFileSync(source, "utf8"), features).toBinary({});
  expect(Buffer.from(bytes).toString("base64")).toBe(Buffer.from(buffer).toString("base64"));
});
