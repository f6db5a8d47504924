import { join } from "node:path";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type Span,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import type { AskOptions } from "../../../src/knowledge-base/question-options.js";
import { collectAnswer } from "../../../src/stages/answering/answer.js";
import { searchTool } from "../../../src/stages/answering/search-tool.js";
import { Pipeline, mapStage } from "../../../src/core/pipeline.js";
import { tool } from "../../../src/core/tool.js";
import { openTracing } from "../../../src/core/telemetry.js";
import { collect } from "../../../src/core/stream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

let exported: InMemorySpanExporter;
let begun: Span[];
beforeEach(() => {
  exported = new InMemorySpanExporter();
  begun = [];
  const beginnings: SpanProcessor = {
    onStart: (span) => void begun.push(span),
    onEnd: () => {},
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [beginnings, new SimpleSpanProcessor(exported)] }),
  );
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
});
afterEach(() => {
  trace.disable();
  context.disable();
});

/** `parent > name` of every span, in the order in which they began. */
function tree(): string[] {
  const nameOf = new Map(begun.map((span) => [span.spanContext().spanId, span.name]));
  return begun.map(({ name, parentSpanContext }) => {
    const parent = nameOf.get(parentSpanContext?.spanId ?? "");
    return parent === undefined ? name : `${parent} > ${name}`;
  });
}

test("an answer is a span below the caller's, with its stages below it and their calls and tools below them", async () => {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  await kb.ingest([{ uri: "keys.md", text: "API keys expire after 90 days." }]);
  begun = [];
  const tools = [searchTool(kb, { name: "keys" })];
  await trace.getTracer("test").startActiveSpan("request", async (span) => {
    await collectAnswer(kb.ask("When do API keys expire?", { answer: { tools } }));
    span.end();
  });
  expect(tree().map((line) => line.replace(/local-[\w./-]+|\S+\/\S+/gu, "model"))).toEqual([
    "request",
    "request > ask",
    "ask > condense",
    "ask > embed-question",
    "embed-question > embeddings model",
    "ask > search",
    "ask > rerank",
    "rerank > rerank model",
    "ask > answer",
    "answer > chat model",
    "answer > execute_tool keys",
    "execute_tool keys > parse-syntax",
    "execute_tool keys > embed-question",
    "embed-question > embeddings model",
    "execute_tool keys > search",
    "answer > chat model",
  ]);
  const spans = exported.getFinishedSpans();
  expect(spans.find(({ name }) => name === "execute_tool keys")?.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "keys",
  });
  expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toContain("expire");
});

test("a call that waits for approval is a span when it is carried out, below the resumed answer's, and none before", async () => {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  await kb.ingest([{ uri: "keys.md", text: "API keys expire after 90 days." }]);
  const renew = tool({ name: "renew_key", description: "", input: z.object({}), writes: true, run: () => "renewed" });
  const answer = { tools: [renew], approve: "later" } as const;
  begun = [];
  const { waiting } = await collectAnswer(kb.ask("Call renew_key: please renew my API key.", { answer }));
  expect(tree().filter((line) => line.includes("renew_key"))).toEqual([]);
  begun = [];
  const approvals = { [waiting!.calls[0]!.approvalId]: true };
  await collectAnswer(kb.resume(waiting!, approvals, { answer }));
  expect(tree().map((line) => line.replace(/local-\S+|citewell\/\S+/gu, "model"))).toEqual([
    "resume",
    "resume > answer",
    "answer > execute_tool renew_key",
    "answer > chat model",
  ]);
  await expect.poll(() => exported.getFinishedSpans().length).toBeGreaterThanOrEqual(begun.length);
});

test("all spans of an answer end, and only that of a failed answer is marked as failed, not that of an abandoned or aborted one", async () => {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  await kb.ingest([{ uri: "keys.md", text: "API keys expire after 90 days." }]);
  const asked = async (options: AskOptions, leaveAt?: string) => {
    begun = [];
    exported.reset();
    for await (const { type } of kb.ask("When do API keys expire?", options)) if (type === leaveAt) break;
    // An aborted run does not wait for its stages.
    await expect.poll(() => exported.getFinishedSpans().length).toBe(begun.length);
    const root = exported.getFinishedSpans().find(({ name }) => name === "ask")!;
    return [root.status.code, root.attributes["error.type"]];
  };
  expect(await asked({})).toEqual([0, undefined]);
  expect(await asked({}, "text-delta")).toEqual([0, undefined]);
  expect(await asked({ signal: AbortSignal.abort(new Error("enough")) })).toEqual([0, undefined]);
  expect(await asked({ answer: { contextTokens: 256 } })).toEqual([2, "question-too-long"]);
});

test("an ingest is a span with its stages below it and their calls below them; so is a plan", async () => {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  const documents = [{ uri: "keys.md", text: "API keys expire after 90 days." }];
  await kb.plan(documents);
  const stages = ["fit-metadata", "store-blank", "chunk", "skip-known", "skip-unchanged", "embed-chunks", "store"];
  const below = (root: string, names: readonly string[]) => names.map((name) => `${root} > ${name}`);
  expect(tree().toSorted()).toEqual(["plan", ...below("plan", stages)].toSorted());
  begun = [];
  await kb.ingest(documents);
  expect(
    tree()
      .map((line) => line.replace(/embeddings .*/u, "embeddings model"))
      .toSorted(),
  ).toEqual(["ingest", "embed-chunks > embeddings model", ...below("ingest", stages)].toSorted());
  expect(exported.getFinishedSpans().filter(({ name }) => ["ingest", "plan", "store"].includes(name))).toHaveLength(4);
});

test("a stage's span lasts from its first input to its last output, whatever its neighbours do", async () => {
  const slow = (name: string) =>
    mapStage(name, async (item: number) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return item;
    });
  await collect(Pipeline.from<number>().pipe(slow("first")).pipe(slow("second")).stream([1]));
  const [first, second] = ["first", "second"].map((each) =>
    exported.getFinishedSpans().find(({ name }) => name === each)!,
  );
  const moment = ([seconds, nanoseconds]: readonly [number, number]) => seconds * 1e3 + nanoseconds / 1e6;
  // The clocks of two spans agree to a millisecond.
  expect(moment(second!.startTime)).toBeGreaterThan(moment(first!.endTime) - 5);
  expect(moment(second!.endTime)).toBeGreaterThan(moment(first!.endTime) + 10);
});

test("a stage that fails has a failed span with the error's name; one whose reader leaves has not", async () => {
  const failing = mapStage("fail", (item: number) => {
    if (item === 2) throw new RangeError("too many secrets");
    return item;
  });
  await expect(collect(Pipeline.from<number>().pipe(failing).stream([1, 2]))).rejects.toThrow(RangeError);
  for await (const _ of Pipeline.from<number>().pipe(failing).stream([1, 2])) break;
  const [failed, left] = exported.getFinishedSpans();
  expect(failed).toMatchObject({ name: "fail", attributes: { "error.type": "RangeError" }, status: { code: 2 } });
  expect(JSON.stringify(failed!.attributes)).not.toContain("secrets");
  expect(left).toMatchObject({ name: "fail", status: { code: 0 } });
});

test("without a provider no span is opened", async () => {
  expect(await openTracing()).toBeDefined();
  trace.disable();
  expect(await openTracing()).toBeUndefined();
});
