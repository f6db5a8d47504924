import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createTransport, type Transport } from "../../src/transport/transport.js";
import { drawing } from "./pictured-files.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import type { KnowledgeBase, KnowledgeBaseOptions } from "../../src/knowledge-base/options.js";
import type { RecordedRequest } from "./scripted-upstream.js";
import { temporaryFolder } from "./temporary-folder.js";
import { type VisionService, visionService, wordsOf } from "./vision-service.js";

export const valves = [
  { uri: "e42", title: "E42", text: "Code E42 means that the valve is stuck. Call the plumber." },
  { uri: "e43", title: "E43", text: "Code E43 means that the tank is empty. Fill it." },
];
export const described = "A display with the code E42.";

/** A picture of an error, as a data address. */
export async function errorPicture(): Promise<string> {
  const bytes = await drawing('<rect width="300" height="100" fill="#222"/>');
  return `data:image/png;base64,${bytes.toString("base64")}`;
}

export const isDescribing = (request: RecordedRequest) => wordsOf(request).includes("Describe what the pictures show");

export interface PicturedKnowledgeBase {
  readonly kb: KnowledgeBase;
  readonly service: VisionService;
  readonly transport: Transport;
}

/** A knowledge base over a service with the models `test/see`, which sees, and `test/read`, which does not. */
export async function picturedKnowledgeBase(
  options: KnowledgeBaseOptions,
  describe: () => string = () => described,
): Promise<PicturedKnowledgeBase> {
  const service = await visionService(
    (_, request) => (isDescribing(request) ? describe() : "The valve is stuck. [1]"),
    () => "The valve is stuck. [1]",
  );
  const transport = createTransport({
    baseUrl: service.baseUrl,
    apiKey: "key",
    maxRetries: 0,
    models: [
      { id: "test/see", type: "vlm" },
      { id: "test/read", type: "llm" },
    ],
  });
  const kb = await openKnowledgeBase({
    path: join(await temporaryFolder(), "store"),
    transport,
    retrieval: { mode: "lexical" },
    ...options,
    models: { embedding: "test/embed", ...options.models },
  });
  await kb.ingest(valves);
  onTestFinished(async () => {
    await kb.close();
    await transport.close();
  });
  return { kb, service, transport };
}
