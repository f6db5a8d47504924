// OpenAI with a key, Ollama where it was asked for, and otherwise a stand-in that speaks OpenAI's API on this machine.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectAnswer, createTransport, openKnowledgeBase } from "citewell";
import { startLocalService } from "citewell/local";

const apiKey = process.env["OPENAI_API_KEY"];
// Ollama itself takes its address without a scheme, too.
const ollama = process.env["OLLAMA_HOST"]?.replace(/^(?!https?:)/, "http://");
const standIn = apiKey || ollama ? undefined : await startLocalService();

const transport = ollama
  ? createTransport({ service: "ollama", baseUrl: ollama })
  : apiKey
    ? createTransport({ service: "openai", apiKey })
    : createTransport({ service: "openai", baseUrl: `${standIn!.url}/v1`, apiKey: standIn!.apiKey });
const models = ollama
  ? { embedding: "bge-m3", chat: "qwen3" }
  : apiKey
    ? { embedding: "text-embedding-3-small", chat: "gpt-4.1-mini" }
    : { embedding: "citewell/local-lexical-m3", chat: "citewell/local-extractive" };

const kb = await openKnowledgeBase({ path: await mkdtemp(join(tmpdir(), "citewell-")), transport, models });
await kb.ingest([{ uri: "handbook:leave", text: "Employees get 27 days of paid leave a year." }]);
const { text, account } = await collectAnswer(kb.ask("How many days of leave do employees get?"));
console.log(text);
console.log(
  `${account.requests.length} requests to ${ollama ? "Ollama" : apiKey ? "OpenAI" : "a stand-in for OpenAI"}`,
);
await kb.close();
await transport.close();
await standIn?.close();
