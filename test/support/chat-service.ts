import { onTestFinished } from "vitest";
import { createTransport, type Transport } from "../../src/transport/transport.js";

import { visionService } from "./vision-service.js";

/** A request to a chat model, as it arrived. */
export interface ChatAsked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** A service with an embedding model and two chat models, which reply with `reply`. `asked` are the requests to these. */
export async function chatService(
  reply: (asked: ChatAsked) => string,
): Promise<{ readonly transport: Transport; readonly asked: ChatAsked[] }> {
  const asked: ChatAsked[] = [];
  const service = await visionService(
    () => "",
    ({ body }) => {
      asked.push(body as ChatAsked);
      return reply(body as ChatAsked);
    },
  );
  const transport = createTransport({
    baseUrl: service.baseUrl,
    apiKey: "key",
    models: ["test/one", "test/two"].map((id) => ({ id, type: "llm" as const })),
  });
  onTestFinished(() => transport.close());
  return { transport, asked };
}
