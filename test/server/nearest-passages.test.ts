import { expect, onTestFinished, test } from "vitest";
import { collectAnswer } from "citewell";
import { createMcpHandler } from "citewell/mcp";
import { httpClient, serveHandler } from "../support/mcp-clients.js";
import { served } from "../support/served.js";

const pages = [
  { uri: "keys.md", title: "Keys", text: "# Keys\n\n## Expiry\n\nAPI keys expire after 90 days." },
  { uri: "locks.md", title: "Locks", text: "# Locks\n\n## Rust\n\nLocks rust in winter." },
  { uri: "doors.md", title: "Doors", text: "# Doors\n\n## Hinges\n\nHinges are oiled in spring." },
  { uri: "bells.md", title: "Bells", text: "# Bells\n\n## Tone\n\nBells ring at noon." },
];
const unanswerable = "Which database stores the orbits of the comets?";

test("a question that is declined has the three nearest passages and headings, and no citation", async () => {
  const { kb } = await served(pages);
  const { answered, citations, nearest } = await collectAnswer(kb.ask(unanswerable));
  expect({ answered, citations }).toEqual({ answered: false, citations: [] });
  const { hits } = await kb.search(unanswerable, { count: 10 });
  expect(nearest?.hits).toHaveLength(3);
  expect(hits.map(({ uri }) => uri)).toEqual(expect.arrayContaining(nearest!.hits.map(({ uri }) => uri)));
  expect(nearest?.headings).toHaveLength(3);
  expect(["Keys", "Expiry", "Locks", "Rust", "Doors", "Hinges", "Bells", "Tone"]).toEqual(
    expect.arrayContaining([...nearest!.headings]),
  );
});

test.each(["When do API keys expire?", "Thank you!"])("%s has no nearest passages", async (question) => {
  const { kb } = await served(pages);
  expect(await collectAnswer(kb.ask(question))).not.toHaveProperty("nearest");
});

test("the API tells them in its last event", async () => {
  const { kb, events } = await served(pages);
  const { nearest } = await collectAnswer(kb.ask(unanswerable));
  const passages = nearest!.hits.map(({ uri, chunk }) => expect.objectContaining({ uri, text: chunk.text }));
  const told = await events("/api/conversations", { question: unanswerable });
  expect(told.at(-1)).toMatchObject({ answered: false, nearest: { passages, headings: [...nearest!.headings] } });
});

test("MCP tells them as text and as data, as no answer", async () => {
  const { kb } = await served(pages);
  const handler = await createMcpHandler(kb, {});
  const { url, close } = await serveHandler(handler.fetch);
  const client = await httpClient("2025-11-25", url);
  onTestFinished(async () => {
    await client.close();
    close();
    await handler.close();
  });
  const { content, structuredContent } = await client.callTool({ name: "ask", arguments: { question: unanswerable } });
  const { nearest } = await collectAnswer(kb.ask(unanswerable));
  expect(structuredContent).toMatchObject({
    answered: false,
    citations: [],
    nearest: {
      passages: nearest!.hits.map(({ uri, chunk }) => expect.objectContaining({ uri, text: chunk.text })),
      headings: [...nearest!.headings],
    },
  });
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  expect(text).toMatch(/The documents do not hold the answer\.[^]*Nearest passages, which do not answer it:/);
  for (const { chunk } of nearest!.hits) expect(text).toContain(chunk.text.trim());
});
