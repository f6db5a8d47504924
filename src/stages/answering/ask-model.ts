import { AnswerError, TransportError } from "../../core/errors.js";
import type { CallOptions, ChatModel, ChatRequest } from "../../core/ports.js";
import type { FailedAttempt } from "../../core/types.js";
import { WrittenToolCallParser } from "../../text/prompt/written-tool-calls.js";
import { chatEvents } from "../calls/chat-events.js";
import { modelRequest, withAbortedAttempt } from "../calls/model-request.js";
import type { AnswerDraft, AnswerProgress, ChatFinish, ModelReply } from "./answer-draft.js";
import type { ModelCall } from "./tools/toolbox.js";

export interface AskModelOptions {
  readonly request: ChatRequest;
  readonly call: CallOptions & { readonly signal: AbortSignal };
  /** Whether `<tool_call>` in the text is a call: some models write calls as text. */
  readonly readsWrittenCalls: boolean;
  /** Whether the text streams to the reader. Otherwise only the reply has it, as the model wrote it. */
  readonly streamsText: boolean;
}

/**
 * Sends one request to the model; its events stream out, and the draft records them.
 *
 * @throws TransportError as the model does, and `truncated` when its stream ends without a finish event.
 * @throws OptionsError for events that are none; AnswerError `thinking-budget` or `content-filter`.
 */
export async function* askModel(
  model: ChatModel,
  draft: AnswerDraft,
  { request, call, readsWrittenCalls, streamsText }: AskModelOptions,
): AsyncGenerator<AnswerProgress, ModelReply> {
  const { cited } = draft;
  const start = { text: cited.text.length, plain: cited.plain.length };
  const written = new WrittenToolCallParser();
  const calls: ModelCall[] = [];
  let reasoning = "";
  let unstreamed = "";
  let finish: ChatFinish | undefined;

  const asked = { step: "answer", by: model, started: performance.now(), messages: request.messages.length };
  const failedAttempts: FailedAttempt[] = [];
  const onFailedAttempt = (attempt: FailedAttempt) => void failedAttempts.push(attempt);
  const abandoned = () => (call.signal.aborted ? withAbortedAttempt(failedAttempts) : failedAttempts);
  draft.requestSent(() => modelRequest({ ...asked, answered: false, failedAttempts: abandoned() }));
  for await (const event of chatEvents(model, request, { ...call, onFailedAttempt })) {
    if (event.type === "text-delta") yield* say(readsWrittenCalls ? written.push(event.text) : event.text);
    else if (event.type === "tool-call") calls.push(event);
    else if (event.type === "reasoning-delta") {
      reasoning += event.text;
      yield event;
    } else {
      finish = event;
      const { usage } = finish;
      draft.requestAnswered(modelRequest({ ...asked, answered: true, usage, failedAttempts }), usage);
      break;
    }
  }
  yield* say(written.end());
  for (const part of cited.end()) yield draft.tell(part);

  if (!finish) {
    throw new TransportError("truncated", `${model.model} ended its stream without a finish event`, {
      operation: "chat",
      retryable: true,
      partialText: streamsText ? cited.text.slice(start.text) : unstreamed,
    });
  }
  const all = [...calls, ...written.calls.map((currentCall) => ({ id: "", ...currentCall }))];
  const text = streamsText ? cited.plain.slice(start.plain).trimStart() : unstreamed;
  const reply = { text, calls: all, reasoning, finish };
  refuseEmpty(reply, request);
  return reply;

  function* say(delta: string): Generator<AnswerProgress> {
    if (delta === "") return;
    if (!streamsText) {
      unstreamed += delta;
      return;
    }
    // The text of a later round begins a new paragraph.
    const isNewRound = start.text > 0 && cited.text.length === start.text;
    for (const part of cited.push(isNewRound ? `\n\n${delta}` : delta)) yield draft.tell(part);
  }
}

function refuseEmpty({ text, calls, reasoning, finish }: ModelReply, { maxTokens }: ChatRequest): void {
  const { reason, refusal, usage, model } = finish;
  if (refusal !== undefined) {
    throw new AnswerError("content-filter", `${model} refused to answer: ${refusal.slice(0, 300)}`);
  }
  if (reason === "content-filter") {
    throw new AnswerError("content-filter", `The service withheld the answer of ${model} (content filter)`);
  }
  if (reason === "length" && reasoning !== "" && calls.length === 0 && text.trim() === "") {
    throw new AnswerError(
      "thinking-budget",
      `${model} used all of its ${usage ? `${usage.outputTokens} ` : ""}output tokens (limit ${maxTokens ?? "its own"}) for thinking and said ` +
        "nothing. Raise thinkingTokens or answerTokens, or turn thinking off or down for this model",
    );
  }
}
