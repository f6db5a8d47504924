import type { ModelFamily, ModelType } from "../../contract/catalogue.js";
import { listModels as operation } from "../../contract/model-list.js";
import type { CallOptions } from "../../core/ports.js";
import type { Caller } from "../calls/caller.js";
import { modelListShape as shape } from "../service-shape.js";
import { jsonCall } from "./json-call.js";

/** A model that the service publishes, as far as the service describes it. */
export interface PublishedModel {
  /** Name that requests carry. */
  readonly id: string;
  /** Kind of the model. */
  readonly type?: ModelType;
  /** Family of a chat model. */
  readonly family?: ModelFamily;
}

/** @internal */
export async function listModels(caller: Caller, options: CallOptions): Promise<readonly PublishedModel[]> {
  const call = jsonCall(operation, { model: "the model list", envelope: shape.envelope }, ({ data }) => data);
  const published = await caller.perform(call, options);
  return published.map(({ id, type, family }) => ({ id, ...(type && { type }), ...(family && { family }) }));
}
