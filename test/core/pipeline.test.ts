import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { FailedDocumentsError, OptionsError, TransportError } from "../../src/core/errors.js";
import { Pipeline, mapStage, stage } from "../../src/core/pipeline.js";
import type { Facts } from "../../src/core/stage-facts.js";
import { collect } from "../../src/core/stream.js";

const numbers = (gives?: Facts, takes?: Facts) =>
  mapStage<number, number>("numbers", (n) => n, { ...(gives && { gives }), ...(takes && { takes }) });

describe("running", () => {
  test("an empty pipeline passes its items through", async () => {
    expect(await collect(Pipeline.from<number>().stream([1, 2]))).toEqual([1, 2]);
  });

  test("stages run in order, one item at a time", async () => {
    const order: string[] = [];
    const trace = (name: string) =>
      mapStage<number, number>(name, (n) => {
        order.push(`${name}${n}`);
        return n;
      });
    await collect(Pipeline.from<number>().pipe(trace("a")).pipe(trace("b")).stream([1, 2]));
    expect(order).toEqual(["a1", "b1", "a2", "b2"]);
  });

  test("a pipeline is a stage: it pipes into another, and pipe changes neither", async () => {
    const double = Pipeline.from<number>().pipe(mapStage("double", (n: number) => n * 2));
    const plusOne = double.pipe(mapStage("plus-one", (n: number) => n + 1));
    expect(await collect(Pipeline.from<number>().pipe(plusOne).pipe(double).stream([1]))).toEqual([6]);
    expect(await collect(double.stream([1]))).toEqual([2]);
    expect(plusOne.name).toBe("double > plus-one");
  });

  describe("documents that fail", () => {
    const reasons = new Map([
      ["b", new Error("its file is torn")],
      ["d", new Error("no vector came")],
    ]);
    const losing = Pipeline.from<string>().pipe(
      stage<string, string>("losing", async function* (source, { failures, report }) {
        for await (const uri of source) {
          const error = reasons.get(uri);
          if (!error) yield uri;
          // One stage writes it down and another one only reports it.
          else if (uri === "b") failures.set(uri, error);
          else report({ type: "document", uri, outcome: "failed", chunks: 0, error });
        }
      }),
    );

    test("end a run that nobody listens to with an error that lists them, after the others went through", async () => {
      const through: string[] = [];
      const run = async () => {
        for await (const uri of losing.stream(["a", "b", "c", "d", "e"])) through.push(uri);
      };
      const error = await run().catch((thrown: unknown) => thrown as FailedDocumentsError);
      expect(error).toBeInstanceOf(FailedDocumentsError);
      expect(error).toMatchObject({ code: "documents-failed", failures: reasons });
      expect(error).toHaveProperty("message", expect.stringContaining("2 documents failed"));
      expect(error).toHaveProperty("message", expect.stringContaining("b: its file is torn; d: no vector came"));
      expect(through).toEqual(["a", "c", "e"]);
    });

    test("are only reported to who listens", async () => {
      const events: unknown[] = [];
      const report = (event: unknown) => events.push(event);
      expect(await collect(losing.stream(["a", "d"], { report }))).toEqual(["a"]);
      expect(events).toEqual([{ type: "document", uri: "d", outcome: "failed", chunks: 0, error: reasons.get("d") }]);
    });
  });

  test.each([
    [{ abortSignal: new AbortController().signal }, 'no option "abortSignal"; did you mean "signal"'],
    [{ signal: "stop" }, "signal: must be an AbortSignal"],
    [{ deadlineMs: Number.NaN }, "deadlineMs: "],
  ])("stream refuses options that would do nothing", async (options, message) => {
    await expect(collect(Pipeline.from<number>().stream([1], options as object))).rejects.toThrow(message);
  });

  test("one of our errors names the stage it came from, once, and stays the same object", async () => {
    const thrown = new TransportError("network", "down");
    const failing = Pipeline.from<number>()
      .pipe(
        mapStage("embed", (): number => {
          throw thrown;
        }),
      )
      .pipe(mapStage("later", (n: number) => n));
    await expect(collect(failing.stream([1]))).rejects.toBe(thrown);
    expect(thrown).toMatchObject({ stage: "embed" });
  });

  test("leaving the loop aborts the run's signal, so that stages release what they hold", async () => {
    let signal: AbortSignal | undefined;
    const watching = stage<number, number>("watching", async function* (source, context) {
      signal = context.signal;
      yield* source;
    });
    for await (const _ of Pipeline.from<number>().pipe(watching).stream([1, 2, 3])) break;
    expect(signal?.aborted).toBe(true);
  });

  test("a hundred calls may listen to a run's signal without a warning of a leak, and none stays on the caller's", async () => {
    const caller = new AbortController();
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    let listeners = 0;
    const calling = stage<number, number>("calling", async function* (source, { signal }) {
      for await (const n of source) {
        for (let call = 0; call < 100; call++) signal.addEventListener("abort", () => {});
        listeners = getEventListeners(caller.signal, "abort").length;
        yield n;
      }
    });
    await collect(Pipeline.from<number>().pipe(calling).stream([1], { signal: caller.signal }));
    await new Promise(setImmediate);
    expect({ listeners, warnings }).toEqual({ listeners: 1, warnings: [] });
    expect(getEventListeners(caller.signal, "abort")).toEqual([]);
  });

  test("the caller's abort reaches every stage with the caller's reason", async () => {
    const controller = new AbortController();
    const reason = new Error("stop now");
    const waiting = mapStage<number, number>("waiting", async (_, { signal }) => {
      controller.abort(reason);
      signal.throwIfAborted();
      return 1;
    });
    const reading = collect(Pipeline.from<number>().pipe(waiting).stream([1], { signal: controller.signal }));
    await expect(reading).rejects.toBe(reason);
  });
});

describe("facts", () => {
  test.each<[string, Facts, Facts, RegExp]>([
    ["longer chunks than a model takes", { chunkTokens: 8192 }, { chunkTokens: 512 }, /8192.*512.*maxTokens/],
    ["another vector space", { space: "model-a" }, { space: "model-b" }, /model-a.*model-b/],
    ["another dimension", { dimension: 384 }, { dimension: 1024 }, /384.*1024/],
    ["more hits than fit", { hits: 40 }, { hits: 10 }, /40.*10.*topN/],
  ])("%s is refused when piped, naming both and the fix", (_, gives, takes, message) => {
    const act = () => Pipeline.from<number>().pipe(numbers(gives)).pipe(numbers(undefined, takes));
    expect(act).toThrow(OptionsError);
    expect(act).toThrow(message);
  });

  test("facts that agree, or that one side does not state, are accepted", () => {
    const act = () =>
      Pipeline.from<number>()
        .pipe(numbers({ chunkTokens: 512, space: "a" }))
        .pipe(numbers(undefined, { chunkTokens: 512, space: "a", dimension: 3 }));
    expect(act).not.toThrow();
  });

  test("a fact passes through stages that do not state it", () => {
    const act = () =>
      Pipeline.from<number>()
        .pipe(numbers({ chunkTokens: 8192 }))
        .pipe(numbers())
        .pipe(numbers(undefined, { chunkTokens: 512 }));
    expect(act).toThrow(/8192/);
  });

  test("a demand inside a pipeline still holds when that pipeline is piped", () => {
    const inner = Pipeline.from<number>()
      .pipe(numbers())
      .pipe(numbers(undefined, { chunkTokens: 512 }));
    expect(() =>
      Pipeline.from<number>()
        .pipe(numbers({ chunkTokens: 8192 }))
        .pipe(inner),
    ).toThrow(/8192/);
  });

  test("a demand that an inner stage satisfies is not a demand on the outer source", () => {
    const inner = Pipeline.from<number>()
      .pipe(numbers({ chunkTokens: 256 }))
      .pipe(numbers(undefined, { chunkTokens: 512 }));
    const act = () =>
      Pipeline.from<number>()
        .pipe(numbers({ chunkTokens: 8192 }))
        .pipe(inner);
    expect(act).not.toThrow();
  });

  test("two unsettled demands on one fact are both kept: the stricter one counts", () => {
    const inner = Pipeline.from<number>()
      .pipe(numbers(undefined, { chunkTokens: 512 }))
      .pipe(numbers(undefined, { chunkTokens: 8192 }));
    const reversed = Pipeline.from<number>()
      .pipe(numbers(undefined, { chunkTokens: 8192 }))
      .pipe(numbers(undefined, { chunkTokens: 512 }));
    for (const pipeline of [inner, reversed]) {
      expect(() =>
        Pipeline.from<number>()
          .pipe(numbers({ chunkTokens: 1000 }))
          .pipe(pipeline),
      ).toThrow(/1000.*512/);
    }
  });
});
