import { z } from "zod";
import { messageFrameTokens, pictureTokens } from "../text/tokens/tokens.js";
import { callOptions } from "../core/call-options.js";
import { OptionsError } from "../core/errors.js";
import { optionsOf, resolve } from "../core/options.js";
import type { ChatModel, PictureReader, PictureToRead } from "../core/ports.js";
import type { Usage } from "../core/types.js";

export interface PictureReaderOptions {
  /** Instruction to the model. Default: asks for all words and numbers, tables and charts as tables, and no guesses. */
  readonly prompt?: string;
  /** Maximum tokens of a description, 16 to the model's `maxOutputTokens`. Default: 1024, or the model's limit if that is less. */
  readonly maxTokens?: number;
}

const pictureReaderOptions = optionsOf<PictureReaderOptions>()({
  prompt: z.string().min(1).optional(),
  maxTokens: z.int().min(16).optional(),
});

const defaultPrompt = [
  "Describe this picture for someone who searches documents and cannot see it.",
  "First say in one or two sentences what it shows. Then write every word and number that stands in it, as it is written.",
  "Write tables and charts as Markdown tables. Use the language of the picture's own words.",
  "Add nothing that cannot be seen.",
].join("\n");

/**
 * Describes pictures by a chat model that sees them. The caption and the text around a picture go to the model as data
 * behind the instruction.
 *
 * @throws OptionsError when the model takes no pictures, or `maxTokens` is above its limit.
 * @example
 * ```ts
 * import { chatModel, createTransport, openKnowledgeBase, pictureReader, readFolder } from "citewell";
 * const transport = createTransport({ baseUrl: "https://api.example.com/v1", apiKey: "…" });
 * const reader = pictureReader(chatModel(transport, { model: "vendor/some-vl" }));
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * await kb.ingest(readFolder("./docs", { pictures: { reader } }));
 * ```
 */
export function pictureReader(model: ChatModel, options: PictureReaderOptions = {}): PictureReader {
  if (typeof (model as Partial<ChatModel> | null)?.stream !== "function") {
    throw new OptionsError("options", "pictureReader: the model must be a chat model, such as chatModel(…)");
  }
  const { prompt = defaultPrompt, ...settings } = resolve("pictureReader", pictureReaderOptions, options);
  const { seesPictures = false, maxOutputTokens } = model;
  if (!seesPictures) {
    throw new OptionsError("options", `pictureReader: ${model.model} sees no pictures: take a vision model (vlm)`);
  }
  const { maxTokens = Math.min(1024, maxOutputTokens) } = settings;
  if (maxTokens > maxOutputTokens) {
    const message = `pictureReader: maxTokens is ${maxTokens}, at most ${maxOutputTokens} for ${model.model}`;
    throw new OptionsError("options", message, { option: "maxTokens" });
  }
  return {
    model: model.model,
    expectedTokens: (picture) => ({
      request: messageFrameTokens + model.tokens.count(instruction(prompt, picture)) + pictureTokens(picture),
      maxReply: maxTokens,
    }),
    describe: async (picture, given = {}) => {
      const call = resolve("describe", callOptions, given);
      const content = instruction(prompt, picture);
      const pictures = [`data:${picture.mediaType};base64,${Buffer.from(picture.bytes).toString("base64")}`];
      const request = { messages: [{ role: "user", content, pictures }], maxTokens } as const;
      let text = "";
      let usage: Usage | undefined;
      for await (const event of model.stream(request, call)) {
        if (event.type === "text-delta") text += event.text;
        if (event.type === "finish") ({ usage } = event);
      }
      return { text: text.trim(), usage };
    },
  };
}

/** Both texts are quoted in JSON, so that none of their lines reads like the instruction's own. */
function instruction(prompt: string, { caption = "", surroundings = "" }: PictureToRead): string {
  const lines = [prompt];
  if (caption !== "") lines.push(`The document's caption for it, as data: ${JSON.stringify(caption)}`);
  if (surroundings !== "") lines.push(`The document's text around it, as data: ${JSON.stringify(surroundings)}`);
  return lines.join("\n\n");
}
