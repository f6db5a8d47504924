import type { ModelResponsesItem } from "../../dialects/openai-responses.js";
import type { ResponseItem, ResponseShape } from "../../dialects/openai-response-writer.js";

/** An item as it was sent, or as a response had it. */
export type KeptItem = Exclude<ModelResponsesItem, { readonly type: "item_reference" }>;

interface KeptResponse {
  readonly response: ResponseShape;
  /** Everything that was said up to its end. */
  readonly items: readonly KeptItem[];
}

/** Limits of the memory that earlier responses take; the oldest are forgotten first. */
const maxResponses = 1000;
const maxCharacters = 50_000_000;

/** Responses that a client goes on from by their ids, or refers to items of. They end with the service. */
export class KeptResponses {
  readonly #responses = new Map<string, KeptResponse & { readonly characters: number }>();
  readonly #items = new Map<string, ResponseItem>();
  #characters = 0;

  get(id: string): KeptResponse | undefined {
    return this.#responses.get(id);
  }

  item(id: string): KeptItem | undefined {
    return this.#items.get(id) as KeptItem | undefined;
  }

  /** @param before the items that the response answers. */
  add(response: ResponseShape, before: readonly KeptItem[]): void {
    const { id, output } = response;
    const items = [...before, ...(output as unknown as readonly KeptItem[])];
    const characters = JSON.stringify(items).length;
    this.#responses.set(id, { response, items, characters });
    this.#characters += characters;
    for (const item of output) this.#items.set(item.id, item);
    for (const oldest of this.#responses.values()) {
      if (this.#responses.size <= maxResponses && this.#characters <= maxCharacters) break;
      this.#responses.delete(oldest.response.id);
      this.#characters -= oldest.characters;
      for (const item of oldest.response.output) this.#items.delete(item.id);
    }
  }
}
