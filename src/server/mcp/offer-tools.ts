import { asError } from "../../core/errors.js";
import { refusalOf } from "../guard/refusal.js";
import { isCallersOwn } from "./failures.js";
import type { ResolvedMcpServerOptions } from "./options.js";
import type { RequestDocuments } from "./request-documents.js";
import type { SdkServer, ServerContext } from "./sdk.js";
import { limited } from "./tools/answer-limit.js";
import { askTool } from "./tools/ask.js";
import { readSourceTool } from "./tools/read-source.js";
import { searchTool } from "./tools/search.js";
import type { DocumentTool, ToolCall } from "./tools/tool.js";

/** The tools, with a limit on the answers that are made at once. */
export function documentTools(maxConcurrentAnswers: number): readonly DocumentTool[] {
  return [searchTool, limited(askTool, maxConcurrentAnswers), readSourceTool];
}

/** Registers the tools. The model gets an error in one as a result, with what to do about it. */
export function offerTools(
  server: SdkServer,
  tools: readonly DocumentTool[],
  { about, maxCharacters, onError }: ResolvedMcpServerOptions,
  documentsOf: RequestDocuments,
): void {
  for (const { name, title, description, input, output, run } of tools) {
    const config = {
      title,
      description: about === undefined ? description : `${description} The documents: ${about}`,
      inputSchema: input,
      outputSchema: output,
      annotations: { readOnlyHint: true, openWorldHint: false },
    };
    server.registerTool(name, config, async (given, context) => {
      const call: ToolCall = {
        documents: documentsOf(context),
        maxCharacters,
        signal: signalOf(context),
        progress: progressOf(context),
      };
      try {
        const { text, structured } = await run(given, call);
        return { content: [{ type: "text", text }], structuredContent: structured };
      } catch (thrown) {
        const error = asError(thrown);
        // A cancelled call needs no result.
        if (!call.signal.aborted && !isCallersOwn(error)) onError(error);
        return { content: [{ type: "text", text: refusalOf(error).message }], isError: true };
      }
    });
  }
}

/** Signal that ends when the client cancels the call or its connection is gone: the result could not be fetched later. */
function signalOf({ mcpReq, http }: ServerContext): AbortSignal {
  return http?.req ? AbortSignal.any([mcpReq.signal, http.req.signal]) : mcpReq.signal;
}

function progressOf({ mcpReq }: ServerContext): ToolCall["progress"] {
  const { _meta: meta } = mcpReq;
  let progress = 0;
  return async (message) => {
    if (meta?.progressToken === undefined) return;
    progress++;
    await mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken: meta.progressToken, progress, message },
    });
  };
}
