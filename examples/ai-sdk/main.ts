// The Vercel AI SDK and a knowledge base: its models in ours, ours in its functions, and checked sources in its answers.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, stepCountIs, streamText, wrapLanguageModel } from "ai";
import { collectAnswer, createTransport, openKnowledgeBase } from "citewell";
import { aiSdkProvider, citedAnswers, fromAiSdk, knowledgeBaseTool } from "citewell/ai-sdk";
import { startLocalService } from "citewell/local";

// A provider: the service behind a transport. `openai`, `anthropic` or any other would do as well.
const service = await startLocalService();
const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
const provider = aiSdkProvider(transport);
const languageModel = provider.languageModel("citewell/local-extractive");
const embeddingModel = provider.embeddingModel("citewell/local-lexical");

// 1. Models of the AI SDK do the work of a knowledge base.
const kb = await openKnowledgeBase({
  path: await mkdtemp(join(tmpdir(), "citewell-")),
  ...fromAiSdk({ languageModel, embeddingModel }),
});
await kb.ingest([
  { uri: "https://example.org/keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." },
  { uri: "https://example.org/doors", title: "Doors", text: "The doors open at nine." },
]);
const question = "When do API keys expire?";
console.log(`asked: ${(await collectAnswer(kb.ask(question))).text}`);

// 2. The same model answers in the AI SDK, from passages that were searched for it, with sources that were checked.
const model = wrapLanguageModel({ model: languageModel, middleware: citedAnswers(kb) });
for await (const part of streamText({ model, prompt: question }).fullStream) {
  if (part.type === "text-delta") process.stdout.write(part.text);
  if (part.type !== "source") continue;
  const { quote, supported } = part.providerMetadata!["citewell"]!;
  process.stdout.write(
    `\nsource: ${part.title} “${quote as string}” ${supported ? "stands there" : "does not stand there"}\n`,
  );
}

// 3. Or the model is given the search as a tool, and looks for itself.
const { text, steps } = await generateText({
  model: languageModel,
  prompt: 'Call search_documents with the query "when the doors open".',
  tools: { search_documents: knowledgeBaseTool(kb, { count: 1 }) },
  stopWhen: stepCountIs(3),
});
for (const { input, output } of steps.flatMap(({ toolResults }) => toolResults)) {
  console.log(`searched: ${JSON.stringify(input)}, found ${JSON.stringify(output)}`);
}
console.log(`told: ${text}`);
for (const each of [kb, transport, service]) await each.close();
