import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runNode } from "../../support/run-process.js";
import { type RecordedRequest, scriptedUpstream, type ScriptedReply } from "../../support/scripted-upstream.js";
import { chunk } from "../../support/transport-for.js";
import { hit } from "./scripted-model.js";

const program = fileURLToPath(new URL("left-answers.mjs", import.meta.url));

const called = (index: number, name: string) => ({ index, id: `c${index}`, function: { name, arguments: "{}" } });

/** Calls two tools, and hangs in the middle of its reply to their results. */
function reply({ body }: RecordedRequest): ScriptedReply {
  const { messages } = body as { readonly messages: readonly { readonly content: string }[] };
  if (messages.at(-1)!.content.startsWith("<tool_response>")) return { sse: [chunk({ content: "Keys " })], hang: true };
  return {
    sse: [
      chunk({ reasoning_content: "Hm." }),
      chunk({ content: "Let me see." }),
      chunk({ tool_calls: [called(0, "write"), called(1, "slow")] }),
      chunk({}, { finish_reason: "tool_calls" }),
      "[DONE]",
    ],
  };
}

test("leaving the loop at any event leaves no timer, and in the middle of a reply closes the upstream's socket", async () => {
  let endedAtMs = 0;
  const upstream = await scriptedUpstream((request) => {
    void request.end.then(() => (endedAtMs = Date.now()));
    return reply(request);
  });
  const words = [JSON.stringify({ baseUrl: upstream.baseUrl, hits: [hit("Keys expire after 90 days.")] })];
  const { stdout, stderr, exitCode } = await runNode(program, words);
  expect([stderr, exitCode]).toEqual(["", 0]);
  const left = JSON.parse(stdout) as readonly { readonly type: string; readonly timers: number; leftAtMs: number }[];
  expect(left.map(({ type, timers }) => [type, timers])).toEqual([
    ["retrieved", 0],
    ["reasoning-delta", 0],
    ["text-delta", 0],
    ["tool-call", 0],
    ["tool-call", 0],
    ["approval", 0],
    ["tool-result", 0],
    ["tool-result", 0],
    ["text-delta", 0],
  ]);
  expect(await upstream.requests.at(-1)!.end).toBe("closed");
  // The promise is 100 ms; the rest is for a machine that is busy with other tests.
  expect(endedAtMs - left.at(-1)!.leftAtMs).toBeLessThan(1000);
});
