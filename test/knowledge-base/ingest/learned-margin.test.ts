import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/index.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const program = fileURLToPath(new URL("killed-at-end.mjs", import.meta.url));

test("a run that is killed once its last document is stored leaves what it learned of the service's counting to the next", async () => {
  const path = join(await temporaryFolder(), "store");
  const child = spawn(process.execPath, [program, path], { stdio: ["ignore", "inherit", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
  const store = await openStore(path, { space: "words" });
  onTestFinished(() => store.close());
  expect((await store.counts()).documents).toBe(3);
  expect(store.tokenMargin).toBe(1.25);
});
