import type { ModelFamily, ModelType } from "../contract/catalogue.js";
import { listModels as operation } from "../contract/model-list.js";
import type { CallOptions } from "../ports.js";
import { readReply } from "./read-reply.js";
import type { Upstream } from "./upstream.js";

/** A model that the service publishes, as far as the service describes it. */
export interface PublishedModel {
  readonly id: string;
  readonly type?: ModelType;
  readonly family?: ModelFamily;
}

export async function listModels(upstream: Upstream, call: CallOptions): Promise<readonly PublishedModel[]> {
  return upstream.perform(
    {
      operation,
      model: "the model list",
      accept: "application/json",
      read: async (exchange) => {
        const { reply } = await readReply(operation, exchange);
        return reply.data.map(({ id, type, family }) => ({ id, ...(type && { type }), ...(family && { family }) }));
      },
      learned: () => ({}),
    },
    call,
  );
}
