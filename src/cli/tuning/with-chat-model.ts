import { OptionsError } from "../../core/errors.js";
import type { ChatModel } from "../../core/ports.js";
import type { Price } from "../../core/types.js";
import { chatModel } from "../../models/chat-model.js";
import { configuredTransport, readSettings, type CommandIo, type StoreFlags } from "../command-context.js";

/** Flags of a budget for a chat model. */
export interface ChatBudgetFlags {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly minutes?: number;
  readonly chatPrice?: readonly string[];
}

/** Passes `use` the chat model that the settings name, with the price that the flags give it. */
export async function withChatModel<T>(
  io: CommandIo,
  flags: StoreFlags & ChatBudgetFlags,
  use: (model: ChatModel | undefined) => Promise<T>,
): Promise<T> {
  const settings = readSettings(io, flags);
  if (settings.chatModel === undefined) return use(undefined);
  const transport = configuredTransport(io, settings);
  if (transport === undefined) return use(undefined);
  try {
    const price = priceOf(flags);
    return await use({ ...chatModel(transport, { model: settings.chatModel }), ...(price && { price }) });
  } finally {
    await transport.close();
  }
}

function priceOf({ chatPrice }: ChatBudgetFlags): Price | undefined {
  if (chatPrice === undefined) return undefined;
  const [input, output = input] = chatPrice.map(Number);
  if (chatPrice.length > 2 || ![input, output].every((price) => price !== undefined && price >= 0)) {
    throw new OptionsError(
      "options",
      "--chat-price takes the prices of a million tokens, of requests and of replies: --chat-price 0.5 2",
    );
  }
  return { input: input!, output: output! };
}
