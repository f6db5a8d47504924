import { AnswerError, TransportError } from "../errors.js";
import type { CallOptions, ChatModel, ChatRequest } from "../ports.js";
import { WrittenToolCallParser } from "../text/written-tool-calls.js";
import type { FailedAttempt } from "../types.js";
import type { AnswerDraft, AnswerProgress } from "./answer-draft.js";
import { givenUp } from "./given-up.js";
import type { ChatFinish, ModelCall, ModelReply } from "./model-reply.js";
import { modelRequest } from "./model-request.js";
import { untilAborted } from "../stream.js";

export interface AskOptions {
  readonly request: ChatRequest;
  readonly call: CallOptions & { readonly signal: AbortSignal };
  /** Whether `<tool_call>` in the text is a call: some models write calls as text. */
  readonly readsWrittenCalls: boolean;
  /** Whether its text is for the reader as it comes. Otherwise it is in the reply alone, as it was written. */
  readonly tells: boolean;
}

/**
 * One request to the model, told as it comes and written into the draft.
 *
 * @throws TransportError as the model does, and `truncated` when its stream ends without a finish.
 * @throws AnswerError `thinking-budget` or `content-filter`.
 */
export async function* askModel(
  model: ChatModel,
  draft: AnswerDraft,
  { request, call, readsWrittenCalls, tells }: AskOptions,
): AsyncGenerator<AnswerProgress, ModelReply> {
  const { cited } = draft;
  const start = { text: cited.text.length, plain: cited.plain.length };
  const written = new WrittenToolCallParser();
  const calls: ModelCall[] = [];
  let reasoning = "";
  let untold = "";
  let finish: ChatFinish | undefined;

  const asked = { step: "answer", by: model, started: performance.now(), messages: request.messages.length };
  const failedAttempts: FailedAttempt[] = [];
  const onFailedAttempt = (attempt: FailedAttempt) => void failedAttempts.push(attempt);
  draft.asks(() =>
    modelRequest({ ...asked, failedAttempts: call.signal.aborted ? givenUp(failedAttempts) : failedAttempts }),
  );
  for await (const event of untilAborted(model.stream(request, { ...call, onFailedAttempt }), call.signal)) {
    if (event.type === "text-delta") yield* say(readsWrittenCalls ? written.push(event.text) : event.text);
    else if (event.type === "tool-call") calls.push(event);
    else if (event.type === "reasoning-delta") {
      reasoning += event.text;
      yield event;
    } else {
      finish = event;
      draft.count(modelRequest({ ...asked, usage: finish.usage, failedAttempts }), finish.usage);
      break;
    }
  }
  yield* say(written.end());
  for (const part of cited.end()) yield draft.tell(part);

  if (!finish) {
    throw new TransportError("truncated", `${model.model} stopped without saying that it was finished`, {
      operation: "chat",
      retryable: true,
      partialText: tells ? cited.text.slice(start.text) : untold,
    });
  }
  const all = [...calls, ...written.calls.map((each) => ({ id: "", ...each }))];
  const said = tells ? cited.plain.slice(start.plain).trimStart() : untold;
  const reply = { text: said, calls: all, reasoning, finish };
  refuseEmpty(reply, request);
  return reply;

  function* say(text: string): Generator<AnswerProgress> {
    if (text === "") return;
    if (!tells) {
      untold += text;
      return;
    }
    // What is said in another round is another paragraph.
    const continues = start.text > 0 && cited.text.length === start.text;
    for (const part of cited.push(continues ? `\n\n${text}` : text)) yield draft.tell(part);
  }
}

function refuseEmpty({ text, calls, reasoning, finish }: ModelReply, { maxTokens }: ChatRequest): void {
  const { reason, usage, model } = finish;
  if (reason === "content-filter") {
    throw new AnswerError("content-filter", `The service withheld the answer of ${model} (content filter)`);
  }
  if (reason === "length" && reasoning !== "" && calls.length === 0 && text.trim() === "") {
    throw new AnswerError(
      "thinking-budget",
      `${model} used all of its ${usage.outputTokens} output tokens (limit ${maxTokens ?? "its own"}) for thinking and said ` +
        "nothing. Raise thinkingTokens or answerTokens, or turn thinking off or down for this model",
    );
  }
}
