import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { citewell } from "../support/citewell.js";
import { photo } from "../support/pictured-files.js";
import { isDescribing, valves } from "../support/question-pictures.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { visionService } from "../support/vision-service.js";

async function indexed() {
  const cwd = await temporaryFolder();
  for (const { uri, text } of valves) await writeFile(join(cwd, `${uri}.md`), text);
  await writeFile(join(cwd, "shot.png"), await photo(3));
  const service = await visionService(
    (_, request) => (isDescribing(request) ? "The code E42." : "It is stuck. [1]"),
    () => "It is stuck. [1]",
  );
  const environment = {
    CITEWELL_BASE_URL: service.baseUrl,
    CITEWELL_API_KEY: "key",
    CITEWELL_EMBEDDING_MODEL: "test/embed",
  };
  const run = (words: readonly string[], input?: string) =>
    citewell(words, { cwd, environment, ...(input !== undefined && { input }) });
  expect((await run(["index", "e42.md", "e43.md"])).exitCode).toBe(0);
  return { run, service };
}

test("ask sends a picture to the model that sees, and says what is wrong with one that it cannot send", async () => {
  const { run, service } = await indexed();
  const asking = ["ask", "What does this mean?", "--chat-model", "test/read"];
  const answer = await run([...asking, "--picture-model", "test/see", "--image", "shot.png"]);
  expect([answer.exitCode, answer.stdout]).toEqual([0, expect.stringContaining("It is stuck.")]);
  expect(service.seen().map(isDescribing)).toEqual([true]);
  const seeing = await run([
    "ask",
    "And this?",
    "--chat-model",
    "test/see",
    "--picture-model",
    "test/see",
    "--image",
    "shot.png",
  ]);
  expect([seeing.exitCode, service.seen().length]).toEqual([0, 3]);
  for (const [words, message] of [
    [["--image", "none.png"], "The picture none.png cannot be read: check the path"],
    [["--image", "e42.md"], "e42.md is damaged, or of another format than jpeg, png"],
    [["--image", "shot.png"], "test/read does not see any: name a vision model, by --picture-model"],
  ] as const) {
    const { exitCode, stderr } = await run([...asking, ...words]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
});

test("chat sends a picture with the next question alone", async () => {
  const { run, service } = await indexed();
  const lines = "/image shot.png\nWhat does this mean?\nAnd E43?\n";
  const models = ["--chat-model", "test/read", "--picture-model", "test/see"];
  const { exitCode, stdout } = await run(["chat", ...models], lines);
  expect(exitCode).toBe(0);
  expect(stdout.match(/It is stuck\. \[1\]/g)).toHaveLength(2);
  expect(service.seen()).toHaveLength(1);
  const failed = await run(["chat", ...models], "/image none.png\n");
  expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining("cannot be read")]);
});
