import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import createWabt from "wabt";
import * as exact from "../../../src/store/dense/flat/kernel.js";
import * as quantized from "../../../src/store/dense/graph/quantized/kernel.js";

test.each([
  ["flat/kernel.wat", exact.kernelBytes()],
  ["graph/quantized/kernel.wat", quantized.kernelBytes(8)],
  ["graph/quantized/kernel-4.wat", quantized.kernelBytes(4)],
])("the bytes of %s are those that it assembles to", async (file, bytes) => {
  const source = new URL(`../../../src/store/dense/${file}`, import.meta.url);
  const wabt = await createWabt();
  const features = { simd: true, threads: true };
  const { buffer } = wabt.parseWat("kernel.wat", readFileSync(source, "utf8"), features).toBinary({});
  expect(Buffer.from(bytes).toString("base64")).toBe(Buffer.from(buffer).toString("base64"));
});
