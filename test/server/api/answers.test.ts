// In test:all alone: it opens a knowledge base and a server for each case, for 21 s.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../../src/core/tool.js";
import type { WireEvent } from "../../../src/server/api/wire.js";
import { standInNotices } from "../../../src/text/prompt/stand-in-notice.js";
import { inEachHome } from "../../support/conversation-homes.js";
import { eventsOf, served } from "../../support/served.js";

const keys = { uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews them." };
const locks = { uri: "locks", title: "Locks", text: "Locks rust in winter. Bob oils them in spring." };
const documents = [keys, locks];
/** The only passage that answers, and the reply that quotes it below the title of its document. */
const passage = keys.text;
const answer = `${standInNotices.english}\n\n**Keys**\n\n${passage} [1]`;
const slow = { eventDelayMs: 40 };

const textOf = (events: readonly WireEvent[]) =>
  events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");

inEachHome((home) => {
  describe("a conversation over HTTP", () => {
    test("is begun with a question, goes on with the next, and is read back with citations and their numbers", async () => {
      const { events, json } = await served(documents, {}, { path: await home.newPlace() });
      const first = await events("/api/conversations", { question: "When do API keys expire?" });
      expect(first[0]).toMatchObject({ type: "conversation", question: "When do API keys expire?", position: 1 });
      const { id } = first[0] as { id: string };
      const end = first.at(-1);
      expect(end).toMatchObject({
        type: "finish",
        text: answer,
        answered: true,
        remarks: [],
        citations: [{ number: 1, uri: "keys", start: 0, end: passage.length, quote: passage, supported: true }],
        waiting: [],
      });
      expect(textOf(first)).toBe(answer);
      await events(`/api/conversations/${id}/questions`, { question: "Who renews the API keys?" });
      const whole = await json("GET", `/api/conversations/${id}`);
      expect(whole).toMatchObject({ id, title: "When do API keys expire?", exchanges: 2, running: false });
      expect(whole.history).toMatchObject([
        { position: 1, answer: { text: answer, stopped: false } },
        { position: 2, question: "Who renews the API keys?" },
      ]);
      expect(await json("GET", "/api/conversations")).toMatchObject({ conversations: [{ id, exchanges: 2 }] });
      expect(await json("PATCH", `/api/conversations/${id}`, { title: "Keys" })).toMatchObject({ title: "Keys" });
      expect(await json("DELETE", `/api/conversations/${id}`, undefined, 204)).toBeUndefined();
      expect(await json("GET", `/api/conversations/${id}`, undefined, 404)).toMatchObject({
        error: { code: "not-found" },
      });
    });

    test("keeps what is nearest to a declined question", async () => {
      const { events, json } = await served(documents, {}, { path: await home.newPlace() });
      const said = await events("/api/conversations", {
        question: "Which comets does the observatory in Quenby watch?",
      });
      const { nearest } = said.at(-1) as { nearest?: object };
      expect(nearest).toMatchObject({ headings: expect.arrayContaining(["Keys", "Locks"]) });
      const { history } = await json("GET", `/api/conversations/${(said[0] as { id: string }).id}`);
      expect(history).toMatchObject([{ answer: { nearest } }]);
    });

    test("is asked another question in the place of one, in a conversation of its own", async () => {
      const { events, json } = await served(documents, {}, { path: await home.newPlace() });
      const { id } = (await events("/api/conversations", { question: "When do API keys expire?" }))[0] as {
        id: string;
      };
      const body = { exchanges: 0, question: "Who oils the locks?" };
      const edited = await events(`/api/conversations/${id}/branch`, body);
      const other = (edited[0] as { id: string }).id;
      expect(other).not.toBe(id);
      expect((await json("GET", `/api/conversations/${other}`)).history).toMatchObject([
        { question: "Who oils the locks?" },
      ]);
      expect((await json("GET", `/api/conversations/${id}`)).history).toMatchObject([
        { question: "When do API keys expire?" },
      ]);
      const after = await events(`/api/conversations/${id}/branch`, { exchanges: 1, question: "Who oils the locks?" });
      expect(after[0]).toMatchObject({ position: 2 });
    });

    test("answers its last question anew on request", async () => {
      const { events, json } = await served(documents, {}, { path: await home.newPlace() });
      const { id } = (await events("/api/conversations", { question: "When do API keys expire?" }))[0] as {
        id: string;
      };
      const again = await events(`/api/conversations/${id}/regenerate`, {});
      expect(again[0]).toMatchObject({ position: 1, question: "When do API keys expire?" });
      expect(again.at(-1)).toMatchObject({ type: "finish", answered: true });
      expect((await json("GET", `/api/conversations/${id}`)).history).toHaveLength(1);
    });
  });

  describe("a call that waits for approval", () => {
    const ran: string[] = [];
    const openTicket = tool({
      name: "open_ticket",
      description: "Opens a ticket for the people who run the service.",
      input: z.object({ subject: z.string() }),
      writes: true,
      run: ({ subject }) => {
        ran.push(subject);
        return `Ticket 17 was opened: ${subject}`;
      },
    });
    const options = { ask: { answer: { tools: [openTicket], approve: "later" as const } } };
    const question = 'Please open a ticket with the subject "keys expire"';

    test.each([true, false])("ends its answer as waiting, and goes on with the decision %s", async (approved) => {
      ran.length = 0;
      const { events, json } = await served(documents, options, { path: await home.newPlace() });
      const asked = await events("/api/conversations", { question });
      const { id } = asked[0] as { id: string };
      expect(asked.at(-1)).toMatchObject({ type: "finish", waiting: [{ name: "open_ticket" }] });
      const { approvalId } = (asked.at(-1) as Extract<WireEvent, { type: "finish" }>).waiting[0]!;
      expect(ran).toEqual([]);
      const [waiting] = (await json("GET", `/api/conversations/${id}`)).history;
      expect(waiting!.waiting!.calls).toMatchObject([{ approvalId, name: "open_ticket" }]);
      const resumed = await events(`/api/conversations/${id}/approvals`, { approvals: { [approvalId]: approved } });
      expect(resumed).toContainEqual(expect.objectContaining({ type: "approval", approved }));
      expect(resumed.at(-1)).toMatchObject({ type: "finish", waiting: [] });
      expect(ran).toHaveLength(approved ? 1 : 0);
      const twice = await events(`/api/conversations/${id}/approvals`, { approvals: { [approvalId]: true } });
      expect(twice.at(-1)).toMatchObject({ type: "error", error: { code: "decided" } });
      expect(ran).toHaveLength(approved ? 1 : 0);
    });
  });
});

test("an answer says what was looked at, and why each passage was kept or dropped", async () => {
  const { events } = await served([...documents, { uri: "copy", text: keys.text }]);
  const end = (await events("/api/ask", { question: "When do API keys expire?" })).at(-1)!;
  if (end.type !== "finish") throw new Error(`ended by ${end.type}`);
  const kept = end.considered.filter((each) => each.kept);
  expect(kept.map(({ uri }) => uri)).toContain("keys");
  expect(kept[0]!.reason).toMatch(/^kept by /);
  const dropped = end.considered.filter((each) => !each.kept);
  expect(dropped.length).toBeGreaterThan(0);
  for (const { reason } of dropped) expect(reason).toMatch(/dropped|never found|not seen/);
});

describe("an answer that is being made", () => {
  test("goes on when its reader leaves, and is followed from its beginning by who comes back", async () => {
    const { send, json } = await served(documents, {}, slow);
    const reply = await send("POST", "/api/conversations", { question: "When do API keys expire?" });
    const seen: WireEvent[] = [];
    for await (const event of eventsOf(reply)) {
      seen.push(event);
      if (event.type === "text-delta") break;
    }
    const { id } = seen[0] as { id: string };
    expect(await json("GET", `/api/conversations/${id}`)).toMatchObject({ running: true });
    const followed: WireEvent[] = [];
    for await (const event of eventsOf(await send("GET", `/api/conversations/${id}/events`))) followed.push(event);
    expect(followed.slice(0, seen.length)).toEqual(seen);
    expect(followed.at(-1)).toMatchObject({ type: "finish", text: answer });
    const rest: WireEvent[] = [];
    const after = `/api/conversations/${id}/events?after=${seen.length - 1}`;
    for await (const event of eventsOf(await send("GET", after))) rest.push(event);
    expect(rest).toEqual(followed.slice(seen.length));
    expect((await json("GET", `/api/conversations/${id}`)).history[0]!.answer!.stopped).toBe(false);
  });

  test("is stopped on request, kept as far as it came, and refuses a second one beside it", async () => {
    const { send, json } = await served(documents, {}, slow);
    const events = eventsOf(await send("POST", "/api/conversations", { question: "When do API keys expire?" }));
    const { id } = (await events.next()).value as { id: string };
    const seen: WireEvent[] = [];
    for await (const event of events) {
      seen.push(event);
      if (event.type !== "text-delta") continue;
      if (seen.filter(({ type }) => type === "text-delta").length > 1) continue;
      const busy = await json("POST", `/api/conversations/${id}/questions`, { question: "And?" }, 409);
      expect(busy).toMatchObject({ error: { code: "busy" } });
      expect(await json("POST", `/api/conversations/${id}/stop`, {})).toEqual({ stopped: true });
    }
    const last = seen.at(-1)!;
    expect(last).toEqual({ type: "stopped", text: textOf(seen) });
    const [exchange] = (await json("GET", `/api/conversations/${id}`)).history;
    expect(exchange!.answer).toMatchObject({ stopped: true, text: textOf(seen) });
    expect(await json("POST", `/api/conversations/${id}/stop`, {})).toEqual({ stopped: false });
  });

  test("without a conversation ends with its reader", async () => {
    const { send } = await served(documents, { limits: { maxConcurrentAnswers: 1 } }, { eventDelayMs: 2000 });
    const reply = await send("POST", "/api/ask", { question: "When do API keys expire?" });
    await reply.body!.cancel();
    // Its place is free long before the answer could be whole.
    const again = async () => {
      const { status, body } = await send("POST", "/api/ask", { question: "Who oils the locks?" });
      await body!.cancel();
      return status;
    };
    await expect.poll(again, { timeout: 1900 }).toBe(200);
  });
});

test("an upstream that fails ends the answer with its reason, in words", async () => {
  const errors: unknown[] = [];
  const { events, kb, folder } = await served(documents, { onError: (error) => errors.push(error) });
  await kb.close();
  const end = (await events("/api/ask", { question: "When do API keys expire?" })).at(-1);
  expect(end).toMatchObject({
    type: "error",
    error: { code: "closed", message: expect.stringContaining("were closed") },
  });
  // Its folder is for the log alone.
  expect(JSON.stringify(end)).not.toContain(folder);
  expect(String(errors)).toContain(folder);
});

test("more answers at once than are allowed are refused, with the time to wait", async () => {
  const { send } = await served(documents, { limits: { maxConcurrentAnswers: 1 } }, slow);
  const first = await send("POST", "/api/ask", { question: "When do API keys expire?" });
  const second = await send("POST", "/api/ask", { question: "When do API keys expire?" });
  expect(second.status).toBe(503);
  expect(second.headers.get("retry-after")).toBe("1");
  await second.body!.cancel();
  for await (const _ of eventsOf(first)) continue;
  const third = await send("POST", "/api/ask", { question: "When do API keys expire?" });
  expect(third.status).toBe(200);
  await third.body!.cancel();
});

test("an answer over HTTP says which words were corrected to find its passages", async () => {
  const { events } = await served(documents);
  const retrieved = (question: string) =>
    events("/api/ask", { question }).then((all) => all.find(({ type }) => type === "retrieved"));
  expect(await retrieved("When do locks russt?")).toMatchObject({ searchedFor: "When do locks rust?" });
  expect(await retrieved("When do locks rust?")).not.toHaveProperty("searchedFor");
});

test("a search over HTTP says which words it corrected, and leaves them where asked to", async () => {
  const { json } = await served(documents);
  const search = (more: object = {}) => json("POST", "/api/search", { question: "wintre", mode: "lexical", ...more });
  expect(await search()).toMatchObject({ searchedFor: "winter", passages: [{ uri: "locks" }] });
  const plain = await search({ correct: false });
  expect(plain).toMatchObject({ passages: [] });
  expect(plain).not.toHaveProperty("searchedFor");
});

test.each([
  ["/api/ask", {}, /question/],
  ["/api/ask", { question: " " }, /must not be blank/],
  ["/api/ask", { question: "a", filters: {} }, /did you mean "filter"/],
  ["/api/ask", { question: "a", filter: { tenant: "b" } }, /tenant/],
  ["/api/search", { question: "a", limit: 0 }, /limit/],
  ["/api/search", "no json", /not valid JSON/],
  ["/api/search", "[1]", /must be a JSON object/],
])("POST %s refuses %j in one line", async (path, body, message) => {
  const { json } = await served(documents);
  const { error } = await json("POST", path, body, 400);
  expect(error.message).toMatch(message);
  expect(error.message).not.toContain("\n");
});

test("a question is told to be taken before its search, and its answer comes after", async () => {
  const { events } = await served([{ uri: "keys", text: "API keys expire after 90 days." }]);
  const types = (await events("/api/ask", { question: "When do API keys expire?" })).map(({ type }) => type);
  expect(types.slice(0, 2)).toEqual(["searching", "retrieved"]);
  expect(types.at(-1)).toBe("finish");
});

test("conversations are listed a page at a time, the one with the last question first", async () => {
  const { json, events } = await served([{ uri: "keys", text: "API keys expire after 90 days." }]);
  const questions = ["When do API keys expire?", "Do API keys expire?", "What expires?"];
  for (const question of questions) await events("/api/conversations", { question });
  const page = async (query: string) => {
    const { conversations, next } = await json("GET", `/api/conversations${query}`);
    return { titles: conversations.map(({ title }) => title), next };
  };
  const { titles: all, next: none } = await page("");
  expect(none).toBeUndefined();
  expect(all.toSorted()).toEqual([...questions].toSorted());
  const first = await page("?limit=2");
  expect(first).toEqual({ titles: all.slice(0, 2), next: expect.any(String) });
  const rest = `?limit=2&after=${encodeURIComponent(first.next!)}`;
  expect(await page(rest)).toEqual({ titles: all.slice(2), next: undefined });
  // One that begins meanwhile is none of those that follow.
  await events("/api/conversations", { question: "Who renews keys?" });
  expect(await page(rest)).toEqual({ titles: all.slice(2), next: undefined });
  expect(await page("?limit=4")).toEqual({ titles: ["Who renews keys?", ...all], next: undefined });
  for (const wrong of ["", "7", "-talk", "1e3-talk", "9".repeat(16)]) {
    await json("GET", `/api/conversations?after=${wrong}`, undefined, 400);
  }
  await json("GET", "/api/conversations?limit=1001", undefined, 400);
});
