import { Refusal } from "../../guard/refusal.js";
import type { DocumentTool } from "./tool.js";

/** Limits how many calls of a tool run at once, for all clients together. */
export function limited(tool: DocumentTool, maxConcurrent: number): DocumentTool {
  let running = 0;
  return {
    ...tool,
    run: async (input, call) => {
      if (running >= maxConcurrent) {
        throw new Refusal(503, "busy", `Only ${maxConcurrent} answers are made at once. Try again in a while`);
      }
      running++;
      try {
        return await tool.run(input, call);
      } finally {
        running--;
      }
    },
  };
}
