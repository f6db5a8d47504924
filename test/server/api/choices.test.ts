// In test:all alone: it opens a knowledge base and a server for each case, for 10 s.
import { describe, expect, test } from "vitest";
import { chatService } from "../../support/chat-service.js";
import { served } from "../../support/served.js";

const documents = ["red", "green", "blue", "grey"].map((colour) => ({
  uri: colour,
  title: `The ${colour} key`,
  text: `The ${colour} key opens the ${colour} door.`,
}));
const question = "Which door does the key open?";
const choices = { chatModels: ["test/two"], maxPassages: 3, maxInstructionCharacters: 40 };

async function service(options: Parameters<typeof served>[1]) {
  const { transport, asked } = await chatService(() => "It opens a door. [1]");
  const models = { embedding: "test/embed", chat: "test/one" };
  return { ...(await served(documents, options, { transport, models })), asked };
}

const system = ({ messages }: { readonly messages: readonly { readonly content: string }[] }) => messages[0]!.content;
const sources = ({ messages }: { readonly messages: readonly { readonly content: string }[] }) =>
  messages
    .map(({ content }) => content)
    .join("\n")
    .match(/key opens the/g)?.length;

describe("settings of a question", () => {
  test("choose the model, the passages and instructions, in a conversation and without one, and of the next nothing", async () => {
    const { asked, events, json } = await service({ choices, ask: { answer: { instructions: "Be brief." } } });
    expect(await json("GET", "/api/status")).toMatchObject({ choices });
    const settings = { chatModel: "test/two", passages: 2, instructions: "Answer as a pirate." };
    const [begun] = await events("/api/conversations", { question, settings });
    const { id } = begun as { id: string };
    await events(`/api/conversations/${id}/questions`, { question });
    await events(`/api/conversations/${id}/regenerate`, { settings });
    await events(`/api/conversations/${id}/branch`, { question, exchanges: 0, settings });
    await events("/api/ask", { question, settings });
    const made = asked.map((each) => [
      each.model,
      sources(each),
      /Be brief\.(?:\n\nAnswer as a pirate\.)?/.exec(system(each))?.[0],
    ]);
    const chosen = ["test/two", 2, "Be brief.\n\nAnswer as a pirate."];
    // The second question of a conversation is first made one that stands alone, by the same model.
    const answers = made.filter(([, count]) => count !== undefined);
    expect(answers).toEqual([chosen, ["test/one", 4, "Be brief."], chosen, chosen, chosen]);
    expect(new Set(made.map(([model]) => model))).toEqual(new Set(["test/one", "test/two"]));
  });

  test.each([
    [
      { chatModel: "test/three" },
      choices,
      /settings\.chatModel .* it is "test\/three", and the models offered are "test\/two"/,
    ],
    [{ chatModel: "test/two" }, {}, /no other model is offered/],
    [{ passages: 4 }, choices, /settings\.passages .* it is 4, and at most 3 may be chosen/],
    [{ passages: 1 }, {}, /the number of passages is the server's own/],
    [{ instructions: "x".repeat(41) }, choices, /settings\.instructions .* they have 41 characters, and at most 40/],
    [{ instructions: "x" }, {}, /callers give none here/],
  ])("%j are refused where the server does not leave them to callers", async (settings, offered, message) => {
    const { asked, json } = await service({ choices: offered });
    for (const path of ["/api/ask", "/api/conversations"]) {
      const { error } = await json("POST", path, { question, settings }, 400);
      expect(error).toMatchObject({ code: "choice", message: expect.stringMatching(message) });
    }
    expect(asked).toEqual([]);
  });

  test("are not offered unless the server says so", async () => {
    const { json } = await served(documents);
    expect(await json("GET", "/api/status")).not.toHaveProperty("choices");
  });
});

test("questions to begin with come from headings, at most one of each document, and those in the reader's language first", async () => {
  const page = (uri: string, heading: string, text: string) => ({
    uri,
    mediaType: "text/markdown",
    text: `# Page\n\nA page.\n\n## ${heading}\n\n${text}\n\n## ${heading} again\n\n${text}\n`,
  });
  const { json } = await served([
    page("a", "Renewing a key", "Press the button."),
    page("b", "如何添加属性", "调用函数。"),
    page("c", "When does it end?", "At noon."),
    page("d", "Overview", "All in all."),
    page("e", "How to open the door", "Turn the key."),
  ]);
  const ask = (fields: object) => json("POST", "/api/suggestions", fields);
  const english = [
    { question: "How do I renew a key?", uri: "a" },
    { question: "How do I open the door?", uri: "e" },
  ];
  const chinese = [{ question: "如何添加属性？", uri: "b" }];
  expect(await ask({})).toEqual({ questions: [...english, ...chinese] });
  expect(await ask({ language: "zh" })).toEqual({ questions: [...chinese, ...english] });
  expect(await ask({ uris: ["e", "d"] })).toEqual({ questions: english.slice(1) });
});
