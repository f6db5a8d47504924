import OpenAI6 from "openai";
import OpenAI4 from "openai-4";
import OpenAI5 from "openai-5";
import { describe, expect, test } from "vitest";
import { bothServices } from "./both-services.js";

const question = "When do API keys expire?";

// The types of three versions are not one another's; what is used here is in each.
const versions = { 4: OpenAI4 as unknown as typeof OpenAI6, 5: OpenAI5 as unknown as typeof OpenAI6, 6: OpenAI6 };
const cases = Object.entries(versions).flatMap(([version, OpenAI]) =>
  Object.entries(bothServices).map(([name, start]) => ({ version, OpenAI, name, start })),
);

describe.each(cases)("the client of OpenAI, version $version, at $name", ({ OpenAI, start }) => {
  const opened = async () => {
    const { url, apiKey, model } = await start();
    return { model, client: new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }) };
  };

  test("gets a chat completion whole and as a stream, with its usage", async () => {
    const { client, model } = await opened();
    const messages = [{ role: "user" as const, content: `Context: API keys expire after 90 days.\n\n${question}` }];
    const whole = await client.chat.completions.create({ model, messages });
    expect(whole.choices[0]).toMatchObject({ finish_reason: "stop" });
    expect(whole.choices[0]!.message.content).toContain("90 days");
    expect(whole.usage!.total_tokens).toBe(whole.usage!.prompt_tokens + whole.usage!.completion_tokens);
    let text = "";
    let tokens = 0;
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? "";
      tokens = usage?.total_tokens ?? tokens;
    }
    expect(text).toBe(whole.choices[0]!.message.content);
    expect(tokens).toBe(whole.usage!.total_tokens);
    const cut = await client.chat.completions.create({ model, messages, max_tokens: 2 });
    expect(cut.choices[0]!.finish_reason).toBe("length");
    expect(cut.usage!.completion_tokens).toBeLessThanOrEqual(2);
  });

  test("gets a response whole and as a stream, and goes on from it", async () => {
    const { client, model } = await opened();
    const input = `Context: API keys expire after 90 days. Ada renews them.\n\n${question}`;
    const whole = await client.responses.create({ model, input });
    expect(whole.output_text).toContain("90 days");
    expect(whole).toMatchObject({ status: "completed", error: null, incomplete_details: null });
    const stream = await client.responses.create({ model, input, stream: true });
    const types: string[] = [];
    let text = "";
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    expect(text).toBe(whole.output_text);
    expect(types[0]).toBe("response.created");
    expect(types.at(-1)).toBe("response.completed");
    const next = await client.responses.create({
      model,
      input: "Who renews the API keys?",
      previous_response_id: whole.id,
    });
    expect(next.output_text).toContain("Ada renews them");
    expect((await client.responses.retrieve(next.id)).output).toEqual(next.output);
  });

  test("is told which models there are, and that another one is none of them", async () => {
    const { client, model } = await opened();
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toContain(model);
    const messages = [{ role: "user" as const, content: question }];
    const unknown = { status: 404, code: "model_not_found" };
    await expect(client.chat.completions.create({ model: "gpt-9", messages })).rejects.toMatchObject(unknown);
    await expect(client.chat.completions.create({ model: "gpt-9", messages, stream: true })).rejects.toMatchObject(
      unknown,
    );
    await expect(client.responses.create({ model: "gpt-9", input: question })).rejects.toMatchObject(unknown);
  });
});
