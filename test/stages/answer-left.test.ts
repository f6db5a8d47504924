import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chatModel } from "../../src/models/chat-model.js";
import { Pipeline } from "../../src/pipeline.js";
import { answer } from "../../src/stages/answer.js";
import { tool } from "../../src/tool.js";
import type { AnswerEvent, Retrieved } from "../../src/types.js";
import type { ScriptedReply } from "../support/scripted-upstream.js";
import { chunk, transportFor } from "../support/transport-for.js";
import { hit, retrieved } from "./scripted-model.js";

const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
const script: readonly ScriptedReply[] = [
  {
    sse: [
      chunk({ reasoning_content: "Hm." }),
      chunk({ content: "Let me see." }),
      chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "write", arguments: "{}" } }] }),
      chunk({ tool_calls: [{ index: 1, id: "c2", function: { name: "slow", arguments: "{}" } }] }),
      chunk({}, { finish_reason: "tool_calls" }),
      "[DONE]",
    ],
  },
  { sse: [chunk({ content: "Keys " })], hang: true },
];
const tools = [
  tool({ name: "write", description: "", input: z.object({}), writes: true, run: () => "written" }),
  tool({ name: "slow", description: "", input: z.object({}), run: (_, { signal }) => sleep(5, "late", { signal }) }),
];

async function asking() {
  const { transport, upstream } = await transportFor(script);
  const stage = answer(chatModel(transport, { model: "vendor/chat" }), { tools, approve: () => true });
  const pipeline = Pipeline.from<Retrieved>().pipe(stage);
  return { upstream, events: pipeline.stream([retrieved([hit("Keys expire after 90 days.")])]) };
}

describe("leaving the loop", () => {
  const order: readonly AnswerEvent["type"][] = [
    ...(["retrieved", "reasoning-delta", "text-delta", "tool-call", "tool-call", "approval"] as const),
    ...(["tool-result", "tool-result", "text-delta"] as const),
  ];

  test.each(order.map((type, at) => [type, at] as const))(
    "at %s (%d) closes the upstream's socket and leaves no timer",
    async (type, at) => {
      const { upstream, events } = await asking();
      const before = timers();
      let seen = 0;
      for await (const event of events) {
        if (seen++ < at) continue;
        expect(event.type).toBe(type);
        break;
      }
      const leftAt = performance.now();
      await Promise.all(upstream.requests.map(({ end }) => end));
      // The promise is 100 ms; the rest is for a machine that is busy with other tests.
      expect(performance.now() - leftAt).toBeLessThan(1000);
      await new Promise((resolve) => setImmediate(resolve));
      expect(timers()).toBeLessThanOrEqual(before);
    },
  );

  test("in the middle of a reply cuts that reply", async () => {
    const { upstream, events } = await asking();
    let deltas = 0;
    for await (const event of events) if (event.type === "text-delta" && ++deltas === 2) break;
    expect(await Promise.all(upstream.requests.map(({ end }) => end))).toEqual(["finished", "closed"]);
  });
});
