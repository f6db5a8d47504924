import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Finished, runNode } from "./support/run-process.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Runs an example in a temporary folder, so that the files which it leaves are deleted. */
async function runExample(name: string): Promise<Finished> {
  const environment = { TMPDIR: await temporaryFolder() };
  return runNode(join(root, "build/examples", `${name}.js`), [], { cwd: root, environment });
}

/** Text that each example must print to show its point. */
const shows: Record<string, readonly RegExp[]> = {
  quickstart: [
    /^4\d documents, \d+ chunks/m,
    /\? What is the default keepAliveTimeout of a Client\?/,
    /\[1\] .*\.md:\d+\n\s+“.+”/,
    /npx citewell index/,
  ],
  "ask-a-folder": [/27 days/, /\[1\] file:.*leave\.md:3 “.*27 days/],
  "own-parts/own-stage": [/added: 1/, /^note:1: The release is on Friday\.$/m],
  "own-parts/own-embedder": [
    /^How long do apples keep\? fruit:apple$/m,
    /^Apples keep for months in a cool cellar\..* \[1\]$/m,
  ],
  "own-parts/own-reranker": [/^fruit:apple by 5 shared words$/m],
  "chatbot/conversation": [
    /^Employees get 27 days/m,
    /at least two weeks ahead/,
    /^stopped: The reader pressed stop$/m,
    /^kept: 3 exchanges$/m,
  ],
  structured: [
    /^value: Keys expire after 90 days\.$/m,
    /“Keys expire after 90 days\.[^”]*” found there/,
    /front desk\. \[1\]/,
  ],
  "tenants/tenants": [
    /^note:4 failed: .*metadata\.tenant/m,
    /^note:1: The gate code is 4711\.$/m,
    /scoped\(filter\)$/m,
  ],
  "budget/main": [/^planned: 60 chunks/m, /^stopped: The budget is/m, /^in the store: 60 documents/m],
  "own-loader": [/^added: 1, failed: empty$/m, /^line 2: The bridge opens$/m],
  "pictures/main": [
    /^planned: 1 picture, about \d+ tokens$/m,
    /^described: 1$/m,
    /^again: 0 described, 1 kept$/m,
    /^found: a picture, described by citewell\/local-look$/m,
  ],
  "evaluation/main": [/^nDCG@10 1\.000 of 12 queries$/m, /^changed: -\d.*worse$/m, /^the gate is closed$/m],
  "tuning/main": [
    /^\d+ questions, made without a model$/m,
    /^\d+ settings tried/m,
    /^better: \{"mode":"(?:hybrid|lexical)"/m,
    /^\d+ of 20 lost:/m,
  ],
  "video/main": [/^ordered: The tour begins at the lighthouse/m, /^succeeded: a film with 1 source$/m],
  "services/main": [/27 days/, /requests to a stand-in for OpenAI$/m],
  "next-route/main": [/^without a user: 401$/m, /"text-delta".*90/, /"data-citation".*"supported":true/],
  "mounting/main": [
    /^in Hono: API keys expire after 90 days\./m,
    /^without a user: \/login$/m,
    /^in Node's own server: 200$/m,
  ],
  "deploying/main": [/^restored: every byte is as it was$/m, /^found: keys$/m],
  "upgrading/main": [/^refused: space$/m, /: serves$/m, /^back again$/m],
  "coming-from/main": [/^3: 1 added$/m, /^4: 1 unchanged, 0 requests$/m, /^8: [^]*90 days.* true$/m, /^9: streamed$/m],
  "ai-sdk/main": [
    /^asked: [^]*^API keys expire after 90 days\. Ada renews them\. \[1\]$/m,
    /^source: Keys “API keys expire after 90 days\. Ada renews them\.” stands there$/m,
    /^searched: .*"passages":\[\{"uri":"https:\/\/example\.org\/doors"/m,
    /^told: .*nine/m,
  ],
  "langchain/main": [
    /^2 documents added$/m,
    /^chain: [^]*^API keys expire after 90 days\./m,
    /^store: The roof was mended in May\. \(near\)$/m,
    /^asked: [^]*^API keys expire after 90 days\..* \[1\] \(its quotation stands in the document\)$/m,
  ],
  "mcp/main": [
    /^without a token: refused$/m,
    /^search, ask, read_source$/m,
    /"answered":true.*"quote":"API keys expire after 90 days\.[^"]*".*"supported":true/,
    /^documents: keys$/m,
  ],
  "sign-in/main": [
    /^200 \[ 'The north opens at nine\.' \]/m,
    /^200 \[ 'The south opens at ten\.' \]/m,
    /^429 /m,
    /^401 /m,
  ],
  "telemetry/main": [
    /^API keys expire after 90 days\. \[1\]$/m,
    /name: 'embeddings citewell\/local-lexical'/,
    /name: 'gen_ai\.client\.token\.usage'/,
  ],
  tools: [/^calls order_status with \{"orderNumber":"A-1042"\}$/m, /arrives on Friday/],
};

describe("examples", () => {
  test("every example is in this list", () => {
    const present = readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => name.replace(/\.ts$/, ""));
    // Servers go on until they are stopped: server-example.test.ts and chat-server-example.test.ts talk to them. The route
    // is run by the program beside it, and the store, which is a module, by test/store/chroma.
    const listed = [...Object.keys(shows), "chatbot/chat-server", "own-store", "tenants/server", "next-route/route"];
    expect(present.toSorted()).toEqual(listed.toSorted());
  });

  test.each(Object.entries(shows))("%s runs and shows its point", { timeout: 120_000 }, async (name, patterns) => {
    const { exitCode, stdout, stderr } = await runExample(name);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    for (const pattern of patterns) expect(stdout).toMatch(pattern);
  });

  test("a format of one's own takes at most 30 lines", () => {
    expect(readFileSync(join(root, "examples/own-loader.ts"), "utf8").split("\n").length - 1).toBeLessThanOrEqual(30);
  });

  test(
    "one tenant's notes are not found for another, nor what the filter leaves out",
    { timeout: 60_000 },
    async () => {
      const { stdout } = await runExample("tenants/tenants");
      expect(stdout).not.toMatch(/9902|1234/);
    },
  );

  test("documents kept out of a store are never found", { timeout: 60_000 }, async () => {
    const { stdout } = await runExample("own-parts/own-stage");
    expect(stdout).not.toContain("DRAFT");
  });
});
