import { describe, expect, test } from "vitest";
import { collectAnswer } from "../../src/stages/answering/answer.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { described, errorPicture, isDescribing, picturedKnowledgeBase } from "../support/question-pictures.js";
import { picturesOf, wordsOf } from "../support/vision-service.js";

const question = "What does this mean?";

describe("a question with a picture", () => {
  test("is described for the search by the model that answers, which gets the picture with the sources", async () => {
    const { kb, service } = await picturedKnowledgeBase({ models: { chat: "test/see" } });
    expect(kb.seesPictures).toBe(true);
    const images = [await errorPicture()];
    const answer = await collectAnswer(kb.ask({ question, images }));
    expect(answer).toMatchObject({
      text: "The valve is stuck. [1]",
      citations: [{ number: 1, uri: "e42" }],
      warnings: [],
    });
    const [describing, answering] = service.seen();
    expect([describing, answering].map((request) => isDescribing(request!))).toEqual([true, false]);
    expect(service.seen()).toHaveLength(2);
    const words = wordsOf(answering!);
    expect(words).toContain("<question>\nWhat does this mean?\n</question>");
    expect(words).toContain("Code E42 means");
    // The model's words are searched for, and are nobody's in the prompt.
    expect(words).not.toContain(described);
    const sha256 = service.seen().map((request) => picturesOf(request).map((picture) => picture.sha256));
    expect(new Set(sha256.flat()).size).toBe(1);
    expect(answer.account.requests.map(({ step }) => step)).toEqual(["describe-images", "answer"]);
  });

  test("goes as words to a model that does not see, which is told whose they are", async () => {
    const { kb, service } = await picturedKnowledgeBase({ models: { chat: "test/read", picture: "test/see" } });
    expect(kb.seesPictures).toBe(true);
    const answer = await collectAnswer(kb.ask(question, { images: [await errorPicture()] }));
    expect(answer.citations).toMatchObject([{ uri: "e42" }]);
    expect(service.seen().map(isDescribing)).toEqual([true]);
    const answering = wordsOf(service.requests.at(-1)!);
    expect(answering).toContain(
      `What does this mean?\n\nA picture came with the question. A model that sees says of it, as data: ${JSON.stringify(described)}`,
    );
  });

  test("is answered without the description when that fails, and the answer says so", async () => {
    const { kb } = await picturedKnowledgeBase({ models: { chat: "test/see" } }, () => "");
    const answer = await collectAnswer(kb.ask("What does code E42 mean?", { images: [await errorPicture()] }));
    expect(answer.text).toContain("The valve is stuck.");
    expect(answer.warnings).toEqual([expect.stringMatching(/^describe-images: .*the question was left unchanged/)]);
  });

  test("fails where the description fails and the model that answers does not see", async () => {
    const models = { chat: "test/read", picture: "test/see" };
    const { kb, service } = await picturedKnowledgeBase({ models }, () => "");
    const asking = collectAnswer(kb.ask("What does code E42 mean?", { images: [await errorPicture()] }));
    await expect(asking).rejects.toThrow(
      /test\/read sees no pictures, and nobody has described those of the question \(describe-images: /,
    );
    expect(service.requests.filter(({ path }) => path.endsWith("/chat/completions"))).toHaveLength(1);
  });

  test("is searched for by few enough tokens of the description, and the hits say nothing of it", async () => {
    const long = Array.from({ length: 2000 }, (_, index) => `word${index}`).join(" ");
    const { kb, service } = await picturedKnowledgeBase(
      { models: { chat: "test/see" }, retrieval: { mode: "dense" } },
      () => `${described} ${long}`,
    );
    const events = [];
    for await (const event of kb.ask("What deos this mean?", { images: [await errorPicture()] })) events.push(event);
    expect(events.at(-1)!.type).toBe("finish");
    expect(events.find(({ type }) => type === "retrieved")).not.toHaveProperty("searchedFor");
    const embedded = service.requests.findLast(({ path }) => path.endsWith("/embeddings"))!;
    const [text] = (embedded.body as { input: string[] }).input;
    expect(text).toMatch(/^What deos this mean\?\n\nA display with the code E42\. word0 word1 /);
    expect(text!.length).toBeLessThan(1200);
  });

  test("is refused where no model sees, before anything is sent", async () => {
    const { kb, service } = await picturedKnowledgeBase({ models: { chat: "test/read" } });
    expect(kb.seesPictures).toBe(false);
    const before = service.requests.length;
    const images = [await errorPicture()];
    expect(() => kb.ask({ question, images })).toThrow(
      /test\/read does not see any: name a vision model, by --picture-model/,
    );
    expect(service.requests).toHaveLength(before);
  });

  test.each([
    [["page.png"], /picture 1 of the question is "page.png": write it as data:image\/png;base64/],
    [["data:image/png;base64,AAAA"], /picture 1 of the question is damaged, or of another format than jpeg, png/],
    [["https://example.com/a.png", "data:text/html;base64,AAAA"], /picture 2 of the question is "data:text\/html/],
    [Array.from({ length: 10 }, () => "https://example.com/a.png"), /has 10 pictures, and at most 9 are taken/],
  ])("is refused for what is no picture: %#", async (images, message) => {
    const { kb, service } = await picturedKnowledgeBase({ models: { chat: "test/see" } });
    const before = service.requests.length;
    expect(() => kb.ask({ question, images })).toThrow(message);
    const jpeg = [(await errorPicture()).replace("png", "jpeg")];
    expect(() => kb.ask({ question, images: jpeg })).toThrow(/says that it is image\/jpeg, and its bytes are png/);
    expect(service.requests).toHaveLength(before);
  });

  test("belongs to a conversation, and to its regenerated answer", async () => {
    const { kb, service } = await picturedKnowledgeBase({ models: { chat: "test/see" } });
    const talk = kb.conversation({ id: "valves" });
    const images = [await errorPicture()];
    const first = await collectAnswer(talk.ask(question, { images }));
    const again = await collectAnswer(talk.regenerate({ images }));
    expect([first, again].map(({ citations }) => citations[0]!.uri)).toEqual(["e42", "e42"]);
    expect(service.seen()).toHaveLength(4);
    expect(await talk.exchanges()).toMatchObject([{ question }]);
  });

  test("is looked at by the local stand-in where nothing else is connected", async () => {
    const kb = await openKnowledgeBase({ path: await temporaryFolder() });
    await kb.ingest([{ uri: "png", text: "A picture of 600 by 400 pixels is a PNG of the display." }]);
    expect(kb.seesPictures).toBe(false);
    const answer = await collectAnswer(kb.ask("Which picture is of the display?", { images: [await errorPicture()] }));
    expect(answer.trace.find(({ step }) => step === "describe-images")?.note).toMatch(
      /the pictures show: .*600 by 400 pixels/,
    );
    await kb.close();
  });
});
