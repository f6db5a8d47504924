import { z } from "zod";
import type { Operation } from "./operation.js";

const Nothing = z.strictObject({});

/** The published models. Apart from the id, services differ: a field that is not understood counts as missing. */
export const ModelListReply = z.object({
  data: z.array(
    z.object({
      id: z.string().min(1),
      type: z.enum(["llm", "vlm", "embedding", "rerank", "video"]).optional().catch(undefined),
      family: z.enum(["Q3", "D", "S"]).optional().catch(undefined),
    }),
  ),
});

export const listModels = {
  name: "listModels",
  method: "GET",
  path: "/llm/v1/models",
  request: Nothing,
  reply: ModelListReply,
  repeat: "always",
  readTimeoutMs: 60_000,
  extension: true,
} as const satisfies Operation<typeof Nothing, typeof ModelListReply>;
