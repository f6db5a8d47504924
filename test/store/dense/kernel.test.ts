import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import createWabt from "wabt";
import { kernelBytes } from "../../../src/store/dense/flat/kernel.js";

const source = new URL("../../../src/store/dense/flat/kernel.wat", import.meta.url);

test("the bytes of the kernel are those that its source assembles to", async () => {
  const wabt = await createWabt();
  const { buffer } = wabt.parseWat("kernel.wat", readFileSync(source, "utf8"), { simd: true }).toBinary({});
  expect(Buffer.from(kernelBytes()).toString("base64")).toBe(Buffer.from(buffer).toString("base64"));
});
