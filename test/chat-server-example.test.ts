// In test:all alone: it starts an example with its server, for 9 s.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import type { StoredExchange } from "../src/store/conversations/stored-exchange.js";
import { root } from "./support/citewell.js";
import { temporaryFolder } from "./support/temporary-folder.js";

interface Sent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events of a reply, as they come. */
async function* eventsOf({ status, body }: Response): AsyncGenerator<Sent> {
  expect(status).toBe(200);
  let text = "";
  for await (const part of body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/u.exec(text.slice(0, end)) ?? [];
      yield { event, data: JSON.parse(data) as Sent["data"] };
      text = text.slice(end + 2);
    }
  }
}

/** The example in a process of its own, until the test ends. */
async function chatServer() {
  const child = spawn(process.execPath, [join(root, "build/examples/chatbot/chat-server.js")], {
    cwd: root,
    env: { ...process.env, TMPDIR: await temporaryFolder() },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  /** Requests as the reader with this token does. */
  const as = (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return {
      get: async (path: string): Promise<unknown> => (await fetch(url + path, { headers })).json(),
      post: (path: string, body: object, signal?: AbortSignal) =>
        fetch(url + path, { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) }),
    };
  };
  const end = async () => {
    child.kill("SIGTERM");
    const [exitCode] = (await once(child, "close")) as [number | null];
    return { exitCode, complaints };
  };
  return { as, end };
}

const textOf = (events: readonly Sent[]) =>
  events.flatMap(({ event, data }) => (event === "text-delta" ? [data["text"]] : [])).join("");

async function all(reply: Promise<Response>): Promise<Sent[]> {
  const events: Sent[] = [];
  for await (const event of eventsOf(await reply)) events.push(event);
  return events;
}

test("the chat server streams cited answers within each tenant, stops when its reader leaves, and waits for approval", async () => {
  const { as, end } = await chatServer();
  const [north, south, stranger] = [as("token-of-north"), as("token-of-south"), as("guessed")];
  const question = "When do API keys expire?";

  const answer = await all(north.post("/conversations/keys", { question }));
  expect(textOf(answer)).toMatch(/\n\nAPI keys expire after 90 days\. Ada renews them\. \[1\]$/);
  expect(answer.find(({ event }) => event === "citation")?.data).toMatchObject({
    citation: { number: 1, uri: "north:keys", supported: true },
  });
  expect(answer.at(-1)).toEqual({ event: "finish", data: { answered: true, waits: false } });
  expect(textOf(await all(south.post("/conversations/keys", { question })))).toMatch(
    /\n\nAPI keys expire after 30 days\..*\[1\]$/s,
  );
  expect((await stranger.post("/conversations/keys", { question })).status).toBe(401);
  expect(await north.get("/conversations/keys")).toMatchObject([{ answer: { text: textOf(answer) } }]);

  // Its reader may leave too late on a slow machine: the answer is whole then.
  const stopped = async (id: string) => {
    const leaving = new AbortController();
    const reading = eventsOf(await north.post(`/conversations/${id}`, { question }, leaving.signal));
    await reading.next();
    leaving.abort();
    await expect(reading.next()).rejects.toThrow(/aborted/);
    const kept = async () => ((await north.get(`/conversations/${id}`)) as readonly StoredExchange[])[0]?.answer;
    await expect.poll(kept, { timeout: 20_000 }).toBeDefined();
    const { text, stopped: isStopped } = (await kept())!;
    expect(textOf(answer).startsWith(text.trim())).toBe(true);
    return isStopped;
  };
  let attempts = 1;
  while (!(await stopped(`left-${attempts}`))) expect(attempts++).toBeLessThan(10);

  const asked = await all(north.post("/conversations/help", { question: "Call open_ticket with the subject: keys" }));
  expect(asked.at(-1)).toEqual({ event: "finish", data: { answered: false, waits: true } });
  const { approvalId } = asked.find(({ event }) => event === "approval-needed")!.data as {
    readonly approvalId: string;
  };
  const approve = (by: typeof north) => by.post("/conversations/help/approvals", { [approvalId]: true });
  expect((await approve(south)).status).toBe(404);
  const resumed = await all(approve(north));
  expect(resumed[0]).toMatchObject({
    event: "tool-result",
    data: { output: expect.stringMatching(/^Ticket 17/) as string },
  });
  expect(resumed.at(-1)).toMatchObject({ event: "finish", data: { waits: false } });
  expect((await all(approve(north))).map(({ event }) => event)).toEqual(["error"]);

  expect(await end()).toEqual({ exitCode: 0, complaints: "" });
}, 120_000);
