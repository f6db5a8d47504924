import { expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { citewell, citewellJson } from "../../support/citewell-here.js";
import { clientOf, served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const keys = { uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." };
const question = "When do API keys expire?";

async function askedTwice(client: Awaited<ReturnType<typeof served>>): Promise<string> {
  const [first] = await client.events("/api/conversations", { question });
  if (first?.type !== "conversation") throw new Error("The conversation's id comes first");
  await client.events(`/api/conversations/${first.id}/questions`, { question: "Who renews the API keys?" });
  return first.id;
}

test("a rating with its note is kept with the answer, replaced, taken back, and gone with an answer that is made anew", async () => {
  const client = await served([keys]);
  const id = await askedTwice(client);
  const rate = (body: object, status = 204) => client.json("POST", `/api/conversations/${id}/feedback`, body, status);
  const ratings = async () =>
    (await client.json("GET", `/api/conversations/${id}`)).history.map(({ feedback }) => feedback?.rating);
  const listed = async (query = "") => {
    const reply = await client.send("GET", `/api/feedback${query}`);
    return ((await reply.json()) as { answers: { question: string; feedback: { note?: string } }[] }).answers;
  };
  await rate({ position: 1, rating: "down", note: "  Since May it is 60 days.  " });
  await rate({ position: 2, rating: "up", note: " " });
  expect(await ratings()).toEqual(["down", "up"]);
  expect((await listed()).map((each) => each.question)).toEqual(["Who renews the API keys?", question]);
  expect(await listed("?rating=down")).toMatchObject([
    { conversation: id, position: 1, question, feedback: { rating: "down", note: "Since May it is 60 days." } },
  ]);
  expect((await listed("?rating=up"))[0]!.feedback).not.toHaveProperty("note");

  await rate({ position: 1, rating: "up" });
  expect(await ratings()).toEqual(["up", "up"]);
  await rate({ position: 1, rating: "none" });
  expect(await ratings()).toEqual([undefined, "up"]);
  await client.events(`/api/conversations/${id}/regenerate`, {});
  expect(await ratings()).toEqual([undefined, undefined]);

  expect((await rate({ position: 3, rating: "up" }, 404)).error.code).toBe("not-found");
  expect((await rate({ position: 0, rating: "up" }, 400)).error.code).toBe("options");
  expect((await rate({ position: 1, rating: "fine" }, 400)).error.code).toBe("options");
});

test("a conversation that branches takes the answers along, and not their ratings", async () => {
  const client = await served([keys]);
  const id = await askedTwice(client);
  await client.json("POST", `/api/conversations/${id}/feedback`, { position: 1, rating: "up" }, 204);
  const [branch] = await client.events(`/api/conversations/${id}/branch`, { exchanges: 1, question: "And then?" });
  const branched = branch as { readonly id: string };
  const { history } = await client.json("GET", `/api/conversations/${branched.id}`);
  expect(history.map(({ answer, feedback }) => [answer !== undefined, feedback])).toEqual([
    [true, undefined],
    [true, undefined],
  ]);
});

test("readers see and rate their own conversations alone, and whoever manages the documents sees all ratings", async () => {
  const roles = { ada: "ask", bob: "ask", root: "manage" } as const;
  const { url } = await served([keys], {
    access: (request) => {
      const owner = request.headers.get("x-reader") as keyof typeof roles;
      return { owner, role: roles[owner] };
    },
  });
  const as = (reader: string) => clientOf(url, { "x-reader": reader, "content-type": "application/json" });
  const [begun] = await as("ada").events("/api/conversations", { question });
  const path = `/api/conversations/${(begun as { readonly id: string }).id}/feedback`;
  await as("bob").json("POST", path, { position: 1, rating: "down" }, 404);
  await as("ada").json("POST", path, { position: 1, rating: "up" }, 204);
  const counts = await Promise.all(
    Object.keys(roles).map(async (reader) => {
      const reply = (await as(reader).json("GET", "/api/feedback")) as unknown as { answers: readonly object[] };
      return reply.answers.length;
    }),
  );
  expect(counts).toEqual([1, 0, 1]);
});

test("the command line lists ratings, and the library keeps them within their scope", async () => {
  const cwd = await temporaryFolder({ "docs/keys.md": "# Keys\n\nAPI keys expire after 90 days.\n" });
  await citewellJson(["index", "docs"], { cwd });
  expect((await citewell(["feedback"], { cwd })).stdout).toMatch(/^No answer was rated yet\./);
  const kb = await openKnowledgeBase({ path: `${cwd}/.citewell` });
  const talk = kb.conversation({ id: "talk" });
  await collect(talk.ask(question));
  await talk.rate(1, { rating: "down", note: 'It says "feedback":{"rating":"up"}' });
  await expect(talk.rate(2, { rating: "up" })).rejects.toMatchObject({ name: "OptionsError" });
  const scoped = kb.scoped({ uri: "elsewhere" });
  expect(await scoped.feedback()).toEqual([]);
  expect(await kb.feedback({ rating: "up" })).toEqual([]);
  expect(await kb.feedback({ owner: "ada" })).toEqual([]);
  expect(await kb.store.verify()).toMatchObject({ problems: [] });
  await kb.close();

  const { stdout } = await citewell(["feedback", "--rating", "down"], { cwd });
  expect(stdout).toMatch(
    /^- When do API keys expire\?\n {2}Note: It says .*\n {2}Answer: .*90 days.*\n.* conversation talk\n/,
  );
  expect(await citewellJson(["feedback"], { cwd })).toMatchObject([
    { question, rating: "down", note: 'It says "feedback":{"rating":"up"}', position: 1, conversation: "talk" },
  ]);
});
