import { z } from "zod";
import { given } from "../core/given.js";
import { listOption, optionsOf } from "../core/options.js";
import type { ChatModel } from "../core/ports.js";
import { type AskOptions, chatModelPort } from "../knowledge-base/question-options.js";
import { Refusal } from "./guard/refusal.js";

/** Settings of answers that callers may choose for their own questions. */
export interface CallerChoices {
  /** Chat models beside the usual one: ids at the same service, or models of your own, which go by their id. Default: none. */
  readonly chatModels?: readonly (string | ChatModel)[];
  /** Maximum number of passages that a caller may have an answer made from, 1 to 1,000. Default: callers do not choose it. */
  readonly maxPassages?: number;
  /**
   * Maximum length of a caller's own instructions, in characters, 1 to 20,000. They follow those of `ask.answer.instructions`.
   * Default: callers give none.
   */
  readonly maxInstructionCharacters?: number;
}

/** @internal */
export const callerChoices = optionsOf<CallerChoices>()({
  chatModels: listOption(z.array(z.union([z.string().min(1), chatModelPort]))).default([]),
  maxPassages: z.int().min(1).max(1000).optional(),
  maxInstructionCharacters: z.int().min(1).max(20_000).optional(),
});

/** Fields of a request by which a caller chooses. */
export const choiceFields = {
  settings: z
    .strictObject({
      chatModel: z.string().min(1).optional().describe("Id of a chat model"),
      passages: z.int().min(1).optional().describe("Number of passages to answer from"),
      instructions: z.string().optional().describe("Instructions of one's own, added to those of the server"),
    })
    .default({})
    .describe("What the server lets callers choose: `choices` of /api/status says what")
    .meta({ examples: [{}] }),
};

/** The choices of a caller for a question. */
export type CallerSettings = z.output<typeof choiceFields.settings>;
type ServerAsk = Omit<AskOptions, "filter" | "signal" | "report">;

/** The choices that callers have, for /api/status; `undefined` where they have none. */
export function offeredChoices({ chatModels = [], maxPassages, maxInstructionCharacters }: CallerChoices) {
  if (chatModels.length === 0 && maxPassages === undefined && maxInstructionCharacters === undefined) return undefined;
  return { chatModels: chatModels.map(idOf), ...given({ maxPassages, maxInstructionCharacters }) };
}

/**
 * The options of an answer with a caller's choices.
 *
 * @throws Refusal (400 `choice`) for a choice that the server does not leave to callers, with what it does.
 */
export function chosenOptions(ask: ServerAsk, offered: CallerChoices, chosen: CallerSettings): ServerAsk {
  const { chatModel, passages, instructions = "" } = chosen;
  const { maxPassages, maxInstructionCharacters } = offered;
  if (passages !== undefined && passages > (maxPassages ?? 0)) {
    throw notOffered(
      "passages",
      maxPassages === undefined
        ? "the number of passages is the server's own"
        : `it is ${passages}, and at most ${maxPassages} may be chosen`,
    );
  }
  if (instructions.length > (maxInstructionCharacters ?? 0)) {
    throw notOffered(
      "instructions",
      maxInstructionCharacters === undefined
        ? "callers give none here"
        : `they have ${instructions.length} characters, and at most ${maxInstructionCharacters} are taken`,
    );
  }
  const own = [ask.answer?.instructions, instructions].filter((text) => text?.trim()).join("\n\n");
  return {
    ...ask,
    ...(chatModel !== undefined && { chatModel: offeredModel(offered, chatModel) }),
    // More passages than are searched by default would be refused.
    ...(passages !== undefined && {
      topN: passages,
      ...(ask.count !== undefined && { count: Math.max(ask.count, passages) }),
    }),
    ...(own !== "" && { answer: { ...ask.answer, instructions: own } }),
  };
}

function offeredModel({ chatModels = [] }: CallerChoices, id: string): string | ChatModel {
  const chatModel = chatModels.find((model) => idOf(model) === id);
  if (chatModel !== undefined) return chatModel;
  const names = chatModels.map((model) => JSON.stringify(idOf(model)));
  const offer = names.length === 0 ? "no other model is offered" : `the models offered are ${names.join(", ")}`;
  throw notOffered("chatModel", `it is ${JSON.stringify(id)}, and ${offer}`);
}

function notOffered(field: keyof CallerSettings, why: string): Refusal {
  return new Refusal(400, "choice", `settings.${field} cannot be chosen so: ${why}. Leave it out for the usual`);
}

function idOf(model: string | ChatModel): string {
  return typeof model === "string" ? model : model.model;
}
