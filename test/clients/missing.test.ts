import { existsSync } from "node:fs";
import { expect, test } from "vitest";

const installed = existsSync(new URL("node_modules", import.meta.url));

test.skipIf(!installed)("clients are installed, or their tests are skipped: npm ci --prefix test/clients", () => {
  expect(installed).toBe(true);
});
