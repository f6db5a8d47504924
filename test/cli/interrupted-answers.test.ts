import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { run } from "../../src/cli/program.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { openConversations } from "../../src/store/conversations/embedded-conversations.js";
import { commandFile } from "../support/citewell.js";
import { embeddingReply } from "../support/embedding-service.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { chunk, transportFor } from "../support/transport-for.js";

/** A folder with a store, and an upstream that answers a question with two words and then hangs. */
async function asked() {
  const folder = await temporaryFolder();
  const { transport, upstream } = await transportFor((request) =>
    request.path.endsWith("/embeddings")
      ? embeddingReply(request)
      : { sse: [chunk({ content: "Keys last " })], hang: true },
  );
  const models = { embedding: "test/embed-m3", chat: "test/chat" };
  const kb = await openKnowledgeBase({ path: join(folder, ".citewell"), transport, models });
  await kb.ingest([{ uri: "keys.md", text: "Keys expire after 90 days." }]);
  await kb.close();
  const environment = {
    CITEWELL_BASE_URL: upstream.baseUrl,
    CITEWELL_API_KEY: "k",
    CITEWELL_EMBEDDING_MODEL: models.embedding,
    CITEWELL_CHAT_MODEL: models.chat,
  };
  return { folder, environment, lastEnd: () => upstream.requests.at(-1)!.end };
}

async function exchangesOf(folder: string, id: string) {
  const kept = openConversations(join(folder, ".citewell"));
  const exchanges = await kept.of("").exchanges({ id });
  kept.close();
  return exchanges.map(({ question, answer }) => [question, answer?.text, answer?.stopped]);
}

describe("a signal during an answer", () => {
  async function interrupted(words: readonly string[], input: string) {
    const { folder, environment, lastEnd } = await asked();
    const child = spawn(process.execPath, [commandFile, ...words], {
      cwd: folder,
      env: { ...process.env, ...environment },
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const output = { stdout: "", stderr: "" };
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text;
      if (output.stdout.includes("Keys last")) child.kill("SIGINT");
    });
    child.stdin.write(input);
    const [exitCode] = await once(child, "close");
    return { ...output, exitCode: exitCode as number, end: await lastEnd(), folder };
  }

  test("leaves the text of ask so far, says how to get the rest, and closes the upstream's connection", async () => {
    expect(await interrupted(["ask", "How long does a key last?"], "")).toMatchObject({
      exitCode: 130,
      stdout: "Keys last ",
      stderr: "\nStopped. Run the same command again for the whole answer.\n",
      end: "closed",
    });
  });

  test("ends chat, says how to go on, and keeps the question with what was answered", async () => {
    const words = ["chat", "--conversation", "keys"];
    const { exitCode, stderr, end, folder } = await interrupted(words, "How long does a key last?\nAnd then?\n");
    expect([exitCode, end]).toEqual([130, "closed"]);
    expect(stderr).toBe("\nStopped.\n\nTo go on: citewell chat --conversation keys\n");
    expect(await exchangesOf(folder, "keys")).toEqual([["How long does a key last?", "Keys last ", true]]);
  });
});

test("in a terminal Ctrl-C stops the answer, then clears the typed text, and ends the chat on an empty line", async () => {
  const { folder, environment, lastEnd } = await asked();
  // The parts of a terminal that readline needs: a flag that it is one, and raw mode.
  const modes: boolean[] = [];
  const keys = new PassThrough();
  const stdin = Object.assign(keys, { isTTY: true, setRawMode: (raw: boolean) => void modes.push(raw) });
  const output = { stdout: "", stderr: "" };
  const capture = (name: keyof typeof output) =>
    new PassThrough({ encoding: "utf8" }).on("data", (text: string) => (output[name] += text));
  const sees = async (name: keyof typeof output, text: string) => {
    await expect.poll(() => output[name], { timeout: 20_000 }).toContain(text);
  };
  const io = {
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: capture("stdout"),
    stderr: capture("stderr") as unknown as NodeJS.WriteStream,
    environment,
    directory: folder,
    signal: new AbortController().signal,
  };
  const running = run(io, ["chat", "--conversation", "keys"]);
  await sees("stdout", "> ");

  stdin.write("How long does a key last?\r");
  await sees("stdout", "Keys last");
  stdin.write("\u0003");
  await sees("stderr", "Stopped. Press Ctrl-C again to end the chat.\n");
  expect(await lastEnd()).toBe("closed");

  stdin.write("half a quest");
  await sees("stdout", "half a quest");
  stdin.write("\u0003");
  stdin.write("/help\r");
  await sees("stdout", "/sources");

  stdin.write("\u0003");
  expect(await running).toBe(0);
  expect(output.stderr).toMatch(/To go on: citewell chat --conversation keys\n$/u);
  expect(modes).toEqual([true, false]);
  expect(await exchangesOf(folder, "keys")).toEqual([["How long does a key last?", "Keys last ", true]]);
});
