// In test:all alone: it opens a knowledge base and a server for each case, for 10 s.
import { onTestFinished, describe, expect, test } from "vitest";
import type { KnowledgeBaseOptions } from "../../../src/knowledge-base/options.js";
import { createServer } from "../../../src/server/create-server.js";
import { errorPicture, picturedKnowledgeBase } from "../../support/question-pictures.js";
import { clientOf } from "../../support/served.js";

const question = "What does this mean?";

async function served(models: NonNullable<KnowledgeBaseOptions["models"]>) {
  const { kb, service } = await picturedKnowledgeBase({ models });
  const server = await createServer(kb);
  onTestFinished(() => server.close());
  return { ...clientOf(server.url), service, kb };
}

const uiMessage = (parts: readonly object[]) => ({ id: "chat", messages: [{ id: "1", role: "user", parts }] });
const openAiMessage = (url: string) => ({
  model: "citewell",
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: question },
        { type: "image_url", image_url: { url } },
      ],
    },
  ],
});
const file = (url: string, mediaType = "image/png") => ({ type: "file", mediaType, url });
const text = { type: "text", text: question };

describe("a question with a picture over HTTP", () => {
  test("is answered with it, without a conversation, in one, and anew", async () => {
    const { events, json, service } = await served({ chat: "test/see" });
    expect(await json("GET", "/api/status")).toMatchObject({ images: true });
    const images = [await errorPicture()];
    const alone = await events("/api/ask", { question, images });
    const [begun, ...rest] = await events("/api/conversations", { question, images });
    const { id } = begun as { id: string };
    const again = await events(`/api/conversations/${id}/regenerate`, { images });
    for (const last of [alone.at(-1), rest.at(-1), again.at(-1)]) {
      expect(last).toMatchObject({ type: "finish", citations: [{ uri: "e42" }] });
    }
    expect(service.seen()).toHaveLength(6);
  });

  test("comes as image_url of OpenAI's clients, those of earlier questions apart", async () => {
    const { json, service } = await served({ chat: "test/see" });
    const asked = openAiMessage(await errorPicture());
    expect(await json("POST", "/v1/chat/completions", asked)).toMatchObject({
      choices: [{ message: { content: "The valve is stuck. [1]" } }],
    });
    expect(service.seen()).toHaveLength(2);
    const messages = [
      ...asked.messages,
      { role: "assistant", content: "It is stuck." },
      { role: "user", content: "What does E43 mean?" },
    ];
    await json("POST", "/v1/chat/completions", { ...asked, messages });
    expect(service.seen()).toHaveLength(2);
  });

  test("comes as a file of useChat's messages", async () => {
    const { send, service, kb } = await served({ chat: "test/see" });
    const reply = await send("POST", "/api/chat", uiMessage([text, file(await errorPicture())]));
    expect(await reply.text()).toContain("The valve is stuck.");
    expect(service.seen()).toHaveLength(2);
    expect(await kb.conversation({ id: "chat" }).exchanges()).toMatchObject([{ question }]);
  });

  test("is refused where nobody sees, at an address, and where it is no picture: before anything is stored or sent", async () => {
    const picture = await errorPicture();
    const blind = await served({ chat: "test/read" });
    const seeing = await served({ chat: "test/see" });
    const refused = [
      [blind, picture, /no model that sees pictures is connected here/],
      [seeing, "https://example.com/a.png", /an address is not fetched: send the picture as data:image\/png/],
      [seeing, "data:image/png;base64,AAAA", /picture 1 of the question is damaged/],
    ] as const;
    expect(await blind.json("GET", "/api/status")).toMatchObject({ images: false });
    for (const [{ send, kb, service }, url, message] of refused) {
      const before = service.requests.length;
      for (const [path, body] of [
        ["/api/ask", { question, images: [url] }],
        ["/api/conversations", { question, images: [url] }],
        ["/v1/chat/completions", openAiMessage(url)],
        ["/api/chat", uiMessage([text, file(url)])],
      ] as const) {
        const reply = await send("POST", path, body);
        expect([path, reply.status]).toEqual([path, 400]);
        expect(await reply.text()).toMatch(message);
      }
      expect(service.requests).toHaveLength(before);
      expect(await kb.conversations()).toEqual([]);
    }
    const [begun] = await seeing.events("/api/conversations", { question });
    const { id } = begun as { id: string };
    const damaged = { question, images: ["data:image/png;base64,AAAA"], exchanges: 1 };
    expect((await seeing.send("POST", `/api/conversations/${id}/branch`, damaged)).status).toBe(400);
    expect((await seeing.kb.conversations()).map((talk) => talk.id)).toEqual([id]);
    const pdf = await seeing.send(
      "POST",
      "/api/chat",
      uiMessage([text, file("data:application/pdf;base64,AA", "application/pdf")]),
    );
    expect([pdf.status, await pdf.text()]).toEqual([400, expect.stringContaining("other files in it are not read")]);
  });
});
