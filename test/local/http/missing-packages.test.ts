// In test:all alone: it starts a process for each missing package, for 9 s.
import { expect, test } from "vitest";
import { runWithPackages } from "../../support/bare-install.js";
import { gifUrl } from "../video/media-samples.js";

/** The packages that the service itself needs. */
const packages = ["image-size", "zod", "hono", "@hono/node-server", "opencc-js", "stemmer"];
const start = `import { startLocalService } from "./dist/local/service.js";`;

test("without sharp a picture is still described, and the answer says what to install for its colours", async () => {
  const content = [{ type: "image_url", image_url: { url: gifUrl(10, 20) } }];
  const request = { model: "citewell/local-look", messages: [{ role: "user", content }] };
  const script = `${start}
    const { url, apiKey, close } = await startLocalService();
    const headers = { authorization: "Bearer " + apiKey, "content-type": "application/json" };
    const body = ${JSON.stringify(JSON.stringify(request))};
    const response = await fetch(url + "/llm/v1/chat/completions", { method: "POST", headers, body });
    const reply = await response.json(); console.log(reply.choices?.[0].message.content ?? JSON.stringify(reply));
    await close();`;
  const answer = await runWithPackages(packages, script);
  expect(answer).toContain("is a GIF file of 10 by 20 pixels");
  expect(answer).toContain("npm install sharp");
});

test("without @huggingface/transformers a folder of models is refused, and the error says what to install", async () => {
  const script = `${start}
    import { mkdirSync, writeFileSync } from "node:fs";
    mkdirSync("models/a", { recursive: true });
    writeFileSync("models/a/config.json", JSON.stringify({ model_type: "bert", hidden_size: 4, max_position_embeddings: 512 }));
    await startLocalService({ modelsFolder: "models" }).catch((error) => console.log(error.name, error.code, error.message));`;
  const told = await runWithPackages(packages, `process.chdir(import.meta.dirname);\n${script}`);
  expect(told).toMatch(/^OptionsError missing-package /);
  expect(told).toContain("npm install @huggingface/transformers");
});
