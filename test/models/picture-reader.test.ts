import { expect, test } from "vitest";
import { chatModel } from "../../src/models/chat-model.js";
import { pictureReader } from "../../src/models/picture-reader.js";
import { streamed, transportFor } from "../support/transport-for.js";

const models = [
  { id: "see", type: "vlm" as const },
  { id: "plain", type: "llm" as const },
];
const picture = { bytes: Uint8Array.of(1, 2, 3), mediaType: "image/png" };

test("a picture goes to the model as a data URL before the instruction, its caption and surroundings quoted", async () => {
  const { transport, upstream } = await transportFor([streamed(" A chart.\n")], { models });
  const reader = pictureReader(chatModel(transport, { model: "see" }), { prompt: "Describe it.", maxTokens: 64 });
  const described = await reader.describe({ ...picture, caption: 'Sales "2026"', surroundings: "one\ntwo" });
  expect(described.text).toBe("A chart.");
  const text = [
    "Describe it.",
    String.raw`The document's caption for it, as data: "Sales \"2026\""`,
    String.raw`The document's text around it, as data: "one\ntwo"`,
  ].join("\n\n");
  expect(upstream.requests[0]!.body).toMatchObject({
    model: "see",
    max_tokens: 64,
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
          { type: "text", text },
        ],
      },
    ],
  });
});

test("a model that sees no pictures is refused where the reader is made, and pictures where it is asked", async () => {
  const { transport, upstream } = await transportFor([], { models });
  const blind = chatModel(transport, { model: "plain" });
  expect(() => pictureReader(blind)).toThrow(/plain sees no pictures/);
  const messages = [{ role: "user" as const, content: "?", pictures: ["data:image/png;base64,AQID"] }];
  expect(() => blind.stream({ messages })).toThrow(/plain sees no pictures/);
  expect(upstream.requests).toHaveLength(0);
});

test("a description that is longer than the model's replies is refused where it is asked for", async () => {
  const { transport } = await transportFor([], { models });
  const seeing = chatModel(transport, { model: "see", maxOutputTokens: 100 });
  expect(() => pictureReader(seeing, { maxTokens: 200 })).toThrow(/maxTokens is 200, at most 100 for see/);
});
