import { describe, expect, test } from "vitest";
import { serviceNames, serviceProfile } from "../../../src/dialects/services.js";
import { collect } from "../../../src/core/stream.js";
import { type Transport, createTransport } from "../../../src/transport/transport.js";
import { chunk, failure, transportFor } from "../../support/transport-for.js";
import { connected, having, keyHeadersOf } from "./connected-services.js";
import { chatModel } from "../../../src/models/chat-model.js";
import { messages, schema, schemaFormat, tools } from "./service-rows.js";

test.each(having("chat"))(
  "%s answers with tools, a schema and a seed, each in the field that it has for it",
  async (_, row, exchange) => {
    const { path, body, reply } = exchange;
    const { transport, upstream } = await connected(row, [reply]);
    const fields: readonly string[] = serviceProfile(row.service)!.chat!.fields;
    const result = await transport.chat({
      model: "c",
      messages: [...messages],
      tools,
      max_tokens: 50,
      temperature: 0.7,
      stop: "END",
      seed: 7,
      response_format: row.service === "deepseek" ? { type: "json_object" as const } : schemaFormat,
      ...(fields.includes("tool_choice") && { tool_choice: "required" as const }),
      ...(fields.includes("parallel_tool_calls") && { parallel_tool_calls: false }),
    });
    expect(upstream.requests[0]).toMatchObject({ path, headers: keyHeadersOf(row) });
    expect(upstream.requests[0]!.body).toEqual(body);
    expect(result).toMatchObject({ text: '{"ok":true}', finishReason: "stop", model: "c-2026" });
    expect(result.usage).toMatchObject({ inputTokens: 12, outputTokens: 4 });
  },
);

test.each(having("chat"))("%s streams an answer, with its usage from the last chunk", async (_, row) => {
  const counts = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 };
  const { transport, upstream, warnings } = await connected(row, [
    {
      sse: [
        // Azure begins with a chunk about the filter, which has no choice.
        { id: "", model: "", choices: [], prompt_filter_results: [] },
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "Hel" }),
        chunk({ content: "lo" }),
        ...(row.streamUsage === "asked"
          ? [chunk({}, { finish_reason: "stop" }), { id: "c1", model: "c", choices: [], usage: counts }]
          : [{ ...chunk({ content: "" }, { finish_reason: "stop" }), usage: counts }]),
        "[DONE]",
      ],
    },
  ]);
  const events = await collect(transport.chatStream({ model: "c", messages: [{ role: "user", content: "?" }] }));
  expect(events.at(-1)).toMatchObject({
    type: "finish",
    result: { text: "Hello", usage: { inputTokens: 12, outputTokens: 4 } },
  });
  const sent = upstream.requests[0]!.body;
  expect(sent).toEqual({
    model: "c",
    messages: [{ role: "user", content: "?" }],
    stream: true,
    ...(row.streamUsage === "asked" && { stream_options: { include_usage: true } }),
  });
  expect(warnings()).toEqual([]);
});

test.each(having("chat"))(
  "%s gets more messages than the contract admits, and nothing that it does not know",
  async (_, row, exchange) => {
    const { transport, upstream } = await connected(row, [exchange.reply]);
    const long = Array.from({ length: 25 }, (__, at) => ({
      role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: String(at),
    }));
    await transport.chat({ model: "c", messages: long });
    expect(upstream.requests[0]!.body).toMatchObject({ messages: long });
    for (const field of ["enable_thinking", "thinking", "store"]) {
      const error = await failure(transport.chat({ model: "c", messages: long, [field]: true }));
      expect(error).toMatchObject({ code: "request", attempts: 0 });
      expect(String(error)).toContain(`${row.service} has no field "${field}"`);
    }
    const lacking = ["n", "top_k", "min_p", "tool_choice", "parallel_tool_calls", "reasoning_effort"].filter(
      (field) => !(serviceProfile(row.service)!.chat!.fields as readonly string[]).includes(field),
    );
    for (const field of lacking) {
      const error = await failure(transport.chat({ model: "c", messages: long, [field]: 1 }));
      expect(String(error)).toContain(`${row.service} has no field "${field}"`);
    }
    const told = transport.chat({ model: "c", messages: [{ role: "developer", content: "Be brief." }] });
    if (!serviceProfile(row.service)!.chat!.developer) expect(await failure(told)).toMatchObject({ code: "request" });
    else await failure(told);
    expect(upstream.requests).toHaveLength(serviceProfile(row.service)!.chat!.developer ? 2 : 1);
  },
);

const called = { name: "clock", arguments: '{"zone":"UTC"}' };

/** A call of a tool as the service writes it, whole, and as pieces of a stream. */
function toolCallOf(service: string): { readonly whole: object; readonly pieces: readonly object[] } {
  // Ollama and Mistral send a call in one piece; Mistral's has no type.
  if (service === "ollama" || service === "mistral") {
    const typed = service === "ollama" ? { type: "function" } : {};
    const whole = { id: "c00000001", index: 0, ...typed, function: called };
    return { whole, pieces: [whole] };
  }
  const head = { id: "c00000001", type: "function" };
  return {
    whole: { ...head, function: called },
    pieces: [
      { index: 0, ...head, function: { name: "clock", arguments: "" } },
      { index: 0, function: { arguments: '{"zone":' } },
      { index: 0, function: { arguments: '"UTC"}' } },
    ],
  };
}

test.each(having("chat"))("%s calls a tool, whole and streamed", async (service, row) => {
  const { whole, pieces } = toolCallOf(service);
  const message = { role: "assistant", content: service === "ollama" ? "" : null, tool_calls: [whole] };
  const usage = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 };
  const { transport } = await connected(row, [
    { json: { id: "c1", model: "c", choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage } },
    {
      sse: [
        ...pieces.map((piece) => chunk({ tool_calls: [piece] })),
        { ...chunk({}, { finish_reason: "tool_calls" }), usage },
        "[DONE]",
      ],
    },
  ]);
  const request = { model: "c", messages: [{ role: "user" as const, content: "?" }], tools };
  const expected = { toolCalls: [{ id: "c00000001", ...called }], finishReason: "tool-calls", text: "" };
  expect(await transport.chat(request)).toMatchObject(expected);
  const events = await collect(transport.chatStream(request));
  expect(events.filter(({ type }) => type === "tool-call")).toEqual([
    { type: "tool-call", id: "c00000001", ...called },
  ]);
  expect(events.at(-1)).toMatchObject({ type: "finish", result: expected });
});

test("the types let a request hold what its service has", () => {
  // Only the types are tested: nothing is sent.
  async function requests() {
    const ask = { model: "c", messages: [{ role: "user" as const, content: "?" }] };
    const openai = createTransport({ service: "openai" });
    await openai.chat({ ...ask, seed: 1, tool_choice: "required", response_format: schemaFormat });
    const ollama = createTransport({ service: "ollama" });
    await ollama.chat({ ...ask, seed: 1, response_format: schemaFormat });
    // @ts-expect-error Ollama cannot be told to call a tool
    await ollama.chat({ ...ask, tool_choice: "required" });
    // @ts-expect-error nor asked for several replies
    await ollama.chat({ ...ask, n: 2 });
    // @ts-expect-error the switches of the contract's model families are not OpenAI's
    await openai.chat({ ...ask, enable_thinking: true });
    // @ts-expect-error nor is top_k
    await openai.chat({ ...ask, top_k: 3 });
    await createTransport({ service: "vllm" }).chat({ ...ask, top_k: 3, min_p: 0.1, n: 2, reasoning_effort: "low" });
    const strict = createTransport({ baseUrl: "https://host" });
    // @ts-expect-error the contract has no seed
    await strict.chat({ ...ask, seed: 1 });
    // Models take a transport to any service.
    const any: Transport = openai;
    return any;
  }
  expect(requests).toBeInstanceOf(Function);
  const taking = (field: string) =>
    serviceNames.filter((name) =>
      (serviceProfile(name)?.chat?.fields as readonly string[] | undefined)?.includes(field),
    );
  const openais = ["openai", "azure-openai"];
  const copies = [
    "azure-openai-v1",
    "gemini",
    "openrouter",
    "groq",
    "deepseek",
    "xai",
    "together",
    "bedrock",
    "lm-studio",
  ];
  const except = (...names: readonly string[]) => copies.filter((name) => !names.includes(name));
  expect(taking("tool_choice")).toEqual([...openais, "vllm", "llama.cpp", "mistral", ...copies]);
  const others = except("gemini", "deepseek", "together", "bedrock", "lm-studio");
  expect(taking("parallel_tool_calls")).toEqual([...openais, "vllm", "llama.cpp", "mistral", ...others]);
  expect(taking("n")).toEqual([...openais, "vllm", "mistral", "azure-openai-v1", "gemini", "xai", "together"]);
  expect(taking("top_k")).toEqual(["vllm", "llama.cpp", "openrouter", "together", "lm-studio"]);
  expect(taking("min_p")).toEqual(["vllm", "llama.cpp", "openrouter", "together"]);
  const efforts = except("deepseek", "lm-studio");
  expect(taking("reasoning_effort")).toEqual([...openais, "ollama", "vllm", "llama.cpp", "cohere", ...efforts]);
});

describe("quirks", () => {
  test("a thinking model's reply is read from `reasoning`, as Ollama and vLLM write it, whole and streamed", async () => {
    const { transport } = await transportFor(
      [
        {
          json: {
            model: "c",
            choices: [
              { index: 0, message: { role: "assistant", content: "4", reasoning: "2+2" }, finish_reason: "stop" },
            ],
            usage: { prompt_tokens: 1, completion_tokens: 2 },
          },
        },
        {
          sse: [
            chunk({ reasoning: "2+" }),
            chunk({ reasoning: "2" }),
            chunk({ content: "4" }, { finish_reason: "stop" }),
            "[DONE]",
          ],
        },
      ],
      { service: "ollama" },
    );
    const ask = { model: "c", messages: [{ role: "user" as const, content: "?" }] };
    expect(await transport.chat(ask)).toMatchObject({ text: "4", reasoning: "2+2" });
    const events = await collect(transport.chatStream(ask));
    expect(events.map(({ type }) => type)).toEqual(["reasoning-delta", "reasoning-delta", "text-delta", "finish"]);
  });

  test("a reply in parts, thinking before text, is put together, as Mistral writes it", async () => {
    const thought = { type: "thinking", thinking: [{ type: "text", text: "2+2" }] };
    const { transport } = await transportFor(
      [
        { json: { model: "c", choices: [{ index: 0, message: { content: [thought, { type: "text", text: "4" }] } }] } },
        { sse: [chunk({ content: [thought] }), chunk({ content: "4" }, { finish_reason: "stop" }), "[DONE]"] },
      ],
      { service: "mistral" },
    );
    const ask = { model: "c", messages: [{ role: "user" as const, content: "?" }] };
    expect(await transport.chat(ask)).toMatchObject({ text: "4", reasoning: "2+2" });
    expect((await collect(transport.chatStream(ask))).at(-1)).toMatchObject({
      result: { text: "4", reasoning: "2+2" },
    });
  });

  test("whole calls that share the index 0 stay apart, as Ollama sends them", async () => {
    const call = (id: string, city: string) => ({
      id,
      index: 0,
      type: "function",
      function: { name: "weather", arguments: JSON.stringify({ city }) },
    });
    const { transport } = await transportFor(
      [
        {
          sse: [
            chunk({ tool_calls: [call("call_1", "Oslo")] }),
            chunk({ tool_calls: [call("call_2", "Rome")] }),
            chunk({}, { finish_reason: "tool_calls" }),
            "[DONE]",
          ],
        },
      ],
      { service: "ollama" },
    );
    const events = await collect(transport.chatStream({ model: "c", messages: [{ role: "user", content: "?" }] }));
    expect(events.flatMap((event) => (event.type === "tool-call" ? [event.arguments] : []))).toEqual([
      '{"city":"Oslo"}',
      '{"city":"Rome"}',
    ]);
  });

  test("DeepSeek gets its thinking back with the call that it led to, and is asked for JSON without a schema", async () => {
    const calling = {
      sse: [
        chunk({ reasoning_content: "I need the time." }),
        chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "clock", arguments: "{}" } }] }),
        chunk({}, { finish_reason: "tool_calls" }),
        "[DONE]",
      ],
    };
    const { transport, upstream } = await transportFor([calling, calling], { service: "deepseek" });
    const model = chatModel(transport, { model: "deepseek-chat" });
    const question = { role: "user" as const, content: "Answer in JSON: what time is it?" };
    await collect(model.stream({ messages: [question], format: "json", schema }));
    const call = { id: "c1", name: "clock", arguments: "{}" };
    const sent = [
      question,
      { role: "assistant" as const, content: "", reasoning: "I need the time.", toolCalls: [call] },
      { role: "tool" as const, content: "noon", toolCallId: "c1" },
    ];
    await collect(model.stream({ messages: sent }));
    expect(upstream.requests.map(({ body }) => body)).toMatchObject([
      { response_format: { type: "json_object" } },
      { messages: [{}, { reasoning_content: "I need the time." }, {}] },
    ]);
    const refused = failure(
      transport.chat({ model: "c", messages: [question], response_format: schemaFormat } as never),
    );
    expect(String(await refused)).toContain("response_format");
    expect(upstream.requests).toHaveLength(2);
  });
});
