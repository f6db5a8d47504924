import { version } from "../../core/version.js";
import { offerPrompts } from "./offer-prompts.js";
import { offerResources } from "./offer-resources.js";
import { documentTools, offerTools } from "./offer-tools.js";
import type { ResolvedMcpServerOptions } from "./options.js";
import type { RequestDocuments } from "./request-documents.js";
import type { Sdk, SdkServer } from "./sdk.js";
import { untrusted } from "./tools/source-element.js";

/** Makes servers of the SDK, with all that is offered: one for each client, or for each request. */
export function sdkServers(
  sdk: Sdk,
  options: ResolvedMcpServerOptions,
  documentsOf: RequestDocuments,
  maxConcurrentAnswers = Infinity,
): () => SdkServer {
  const { about } = options;
  const instructions =
    `The user's documents${about === undefined ? "" : `: ${about}`}. Search them before you answer from memory what they may ` +
    `hold, and name the document and the place of what you take from them. ${untrusted}`;
  const tools = documentTools(maxConcurrentAnswers);
  // The lists do not change while a client is connected.
  const unchanging = { listChanged: false };
  return () => {
    const server = new sdk.McpServer(
      { name: "citewell", title: "Citewell", version },
      { instructions, capabilities: { tools: unchanging, resources: unchanging, prompts: unchanging } },
    );
    offerTools(server, tools, options, documentsOf);
    offerResources(sdk, server, options, documentsOf);
    offerPrompts(sdk, server, options, documentsOf);
    return server;
  };
}
