import type { Tracing } from "../tracing.js";
import { type RanCall, type ReadCall, type RunCallOptions, runCall } from "./tool-run.js";

/**
 * Runs a call in a span of its own, where spans are heard of. Names are those of the semantic conventions:
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
 */
export async function runTracedCall(
  call: ReadCall,
  options: RunCallOptions,
  tracing: Tracing | undefined,
): Promise<RanCall> {
  if (!tracing) return runCall(call, options);
  const span = tracing.step(`execute_tool ${call.name}`, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": call.name,
    "gen_ai.tool.call.id": call.id,
    "gen_ai.tool.type": "function",
  });
  span.start();
  let failure: unknown;
  try {
    const ran = await span.within(() => runCall(call, options));
    failure = ran.error;
    return ran;
  } finally {
    span.end({ failure });
  }
}
