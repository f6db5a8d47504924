import { expect, test } from "vitest";
import { citewell } from "../support/citewell-here.js";
import { scriptedUpstream } from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { chunk } from "../support/transport-for.js";

/** Plays Ollama by its documentation: no key, a list of models with tags, vectors, and a streamed answer. */
async function ollama() {
  return scriptedUpstream(({ method, path, body }) => {
    if (method === "GET" && path === "/v1/models") {
      const models = ["nomic-embed-text:latest", "llama3.2:latest"];
      return { json: { object: "list", data: models.map((id) => ({ id, object: "model", owned_by: "library" })) } };
    }
    if (path === "/v1/embeddings") {
      const { input } = body as { readonly input: readonly string[] };
      const data = input.map((text, index) => ({ object: "embedding", index, embedding: [1, text.length / 1000] }));
      return {
        json: { object: "list", model: "nomic-embed-text", data, usage: { prompt_tokens: 5, total_tokens: 5 } },
      };
    }
    if (path === "/v1/chat/completions") {
      const quote = 'Ada keeps the key. [1: "Ada keeps the key."]';
      return {
        sse: [
          chunk({ role: "assistant", content: quote }),
          chunk({ content: "" }, { finish_reason: "stop" }),
          { id: "c1", model: "llama3.2", choices: [], usage: { prompt_tokens: 90, completion_tokens: 9 } },
          "[DONE]",
        ],
      };
    }
    return { status: 404, text: "404 page not found" };
  });
}

const models = ["--embedding-model", "nomic-embed-text", "--chat-model", "llama3.2"];

test("the command indexes and answers over another service, with no key", async () => {
  const upstream = await ollama();
  const cwd = await temporaryFolder({ "docs/a.md": "# Keys\n\nAda keeps the key.\n" });
  const service = ["--service", "ollama", "--base-url", upstream.baseUrl, ...models];
  const indexed = await citewell(["index", "docs", ...service], { cwd });
  expect(indexed).toMatchObject({ exitCode: 0 });
  const asked = await citewell(["ask", "Who keeps the key?", "--json", ...service], { cwd });
  expect(asked).toMatchObject({ exitCode: 0 });
  const { answer, usage } = JSON.parse(asked.stdout) as { readonly answer: string; readonly usage: object };
  expect(answer).toContain("Ada keeps the key.");
  expect(usage).toEqual({ inputTokens: 90, outputTokens: 9 });
  for (const { headers } of upstream.requests) expect(headers).not.toHaveProperty("authorization");
});

test("doctor says which service it is, and knows its models by their names without a tag", async () => {
  const upstream = await ollama();
  const environment = {
    CITEWELL_SERVICE: "ollama",
    CITEWELL_BASE_URL: upstream.baseUrl,
    CITEWELL_EMBEDDING_MODEL: "nomic-embed-text",
    CITEWELL_CHAT_MODEL: "llama3.2",
  };
  const { stdout } = await citewell(["doctor", "--json"], { cwd: await temporaryFolder(), environment });
  const findings = JSON.parse(stdout) as {
    readonly check: string;
    readonly result: string;
    readonly message: string;
  }[];
  const of = (check: string) => findings.find((finding) => finding.check === check);
  expect(of("service")).toMatchObject({ result: "ok", message: `ollama at ${upstream.baseUrl}` });
  expect(of("embedding model")).toMatchObject({ result: "ok" });
  expect(of("chat model")).toMatchObject({ result: "ok" });
});

test("doctor does not claim to have asked a service that has nothing to ask for free", async () => {
  const environment = { CITEWELL_SERVICE: "voyage", CITEWELL_EMBEDDING_MODEL: "voyage-3.5" };
  const { stdout } = await citewell(["doctor", "--json"], { cwd: await temporaryFolder(), environment });
  const findings = JSON.parse(stdout) as {
    readonly check: string;
    readonly result: string;
    readonly message: string;
  }[];
  expect(findings.find(({ check }) => check === "service")).toMatchObject({
    result: "note",
    message: expect.stringMatching(/^voyage at https:\/\/api\.voyageai\.com\/v1 .*not asked/) as string,
  });
  // It cannot chat, which no setting would mend.
  expect(findings.find(({ check }) => check === "chat model")).toMatchObject({ result: "note" });
});

test("--help and an unknown service name those that there are", async () => {
  const help = await citewell(["ask", "--help"]);
  expect(help.stdout).toMatch(/--service <kind>[\s\S]*"ollama"/);
  const wrong = await citewell(["ask", "?", "--service", "olama"]);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain("ollama");
});

test.each([
  ["ollama", "--embedding-model bge-m3"],
  ["llama.cpp", "--embedding-model <id>"],
])("ask --service %s says in one line which flag is missing, with an example", async (service, named) => {
  const { exitCode, stderr } = await citewell(["ask", "?", "--service", service], { cwd: await temporaryFolder() });
  expect(exitCode).toBe(2);
  expect(stderr.trim().split("\n")).toEqual([expect.stringContaining(named)]);
});

test("what the transport warns of stands once on stderr, however many calls it concerns", async () => {
  const upstream = await scriptedUpstream(({ body }) => {
    const { input } = body as { readonly input: readonly string[] };
    return { json: { data: input.map((_, index) => ({ index, embedding: [1, index] })) } };
  });
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`docs/${at}.md`, `Note number ${at}.`]));
  const service = ["--service", "vllm", "--base-url", upstream.baseUrl, "--embedding-model", "e"];
  const { exitCode, stderr } = await citewell(["index", "docs", ...service], { cwd: await temporaryFolder(files) });
  expect(exitCode).toBe(0);
  expect(upstream.requests.length).toBeGreaterThan(1);
  expect(stderr.match(/no token counts/g)).toHaveLength(1);
  expect(stderr).toContain("citewell: embeddings by e: the service reports no token counts");
});

test("a reply that was cut short is warned of beside the answer", async () => {
  const upstream = await scriptedUpstream((request) => {
    if (request.path === "/v1/embeddings") {
      const { input } = request.body as { readonly input: readonly string[] };
      const data = input.map((_, index) => ({ index, embedding: [1, 0] }));
      return { json: { data, usage: { prompt_tokens: 5, total_tokens: 5 } } };
    }
    const usage = { prompt_tokens: 9, completion_tokens: 9 };
    return { sse: [chunk({ content: "Ada kee" }), { ...chunk({}, { finish_reason: "length" }), usage }, "[DONE]"] };
  });
  const cwd = await temporaryFolder({ "docs/a.md": "Ada keeps the key." });
  const service = ["--service", "ollama", "--base-url", upstream.baseUrl, ...models];
  await citewell(["index", "docs", ...service], { cwd });
  const { stdout, stderr } = await citewell(["ask", "Who keeps the key?", ...service], { cwd });
  expect(stdout).toContain("Ada kee");
  expect(stderr.match(/cut short/g)).toHaveLength(1);
});
