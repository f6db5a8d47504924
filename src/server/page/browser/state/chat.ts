import { batch, computed, type Signal, signal } from "@preact/signals";
import type { WireEvent } from "../../../api/wire.js";
import type { Asking, Client } from "../api/client.js";
import { ApiError, failureOf } from "../api/http.js";
import { type Answer, applyEvent, beginAnswer, failedAnswer, isRunning, keptAnswer, resumedAnswer } from "./answer.js";
import { follow } from "./follow.js";
import { Frames } from "./frames.js";
import type { Router } from "./route.js";

export interface Exchange {
  /** Key of the exchange on the page, also before the server has given it a position. */
  readonly key: string;
  readonly question: string;
  /** Pictures that were sent with the question, while the page is open. */
  readonly images?: readonly string[];
  readonly answer: Signal<Answer>;
}

export interface ChatOptions {
  readonly client: Client;
  readonly router: Router;
  /** Limits questions to documents, and sets how they are answered. */
  readonly asking: () => Asking;
  /** Called when a conversation was added or continued. */
  readonly onProgress: () => void;
}

type Send = (until: AbortSignal) => Promise<Response>;

export type Chat = ReturnType<typeof createChat>;

/** The conversation that is open, and the answer that is being made in it. */
export function createChat({ client, router, asking, onProgress }: ChatOptions) {
  const id = signal<string | undefined>(undefined);
  const state = signal<"loading" | "ready" | "missing" | "failed">("ready");
  const exchanges = signal<readonly Exchange[]>([]);
  /** The question that is being written. */
  const draft = signal("");
  const connection = signal<"connected" | "lost">("connected");
  /** The exchange that was last answered while the reader looked on. */
  const live = signal<Exchange | undefined>(undefined);
  const last = computed(() => exchanges.value.at(-1));
  const running = computed(() => last.value !== undefined && isRunning(last.value.answer.value));
  let reader = new AbortController();
  let isStopWanted = false;
  let sendAgain: (() => Promise<void>) | undefined;
  let made = 0;

  const exchange = (question: string, answer: Answer, images: readonly string[] = []): Exchange => ({
    key: String(made++),
    question,
    ...(images.length > 0 && { images }),
    answer: signal(answer),
  });
  const askingWith = (images: readonly string[] = []): Asking => ({
    ...asking(),
    ...(images.length > 0 && { images }),
  });

  /** Stops following; the server continues the answer. */
  const leave = (): AbortSignal => {
    reader.abort();
    reader = new AbortController();
    connection.value = "connected";
    isStopWanted = false;
    sendAgain = undefined;
    return reader.signal;
  };

  const adopt = (newId: string) => {
    const isFirst = id.value === undefined;
    id.value = newId;
    if (isFirst && router.route.value.view === "chat") router.replace({ view: "chat", conversation: newId });
    else if (!isFirst) router.go({ view: "chat", conversation: newId });
    onProgress();
  };

  const load = async (wanted: string, until: AbortSignal) => {
    const { history, running: isFollowed } = await client.conversation(wanted);
    if (until.aborted) return;
    batch(() => {
      id.value = wanted;
      state.value = "ready";
      exchanges.value = history.map((each) => exchange(each.question, keptAnswer(each)));
    });
    if (!isFollowed || !last.value) return;
    // An answer that went on after an approval adds to what was there; any other begins anew.
    const kept = last.value.answer.value;
    const base = kept.phase === "waiting" ? resumedAnswer(kept) : beginAnswer();
    await run(last.value, base, (event) => client.events(wanted, undefined, event));
  };

  const open = async (wanted: string) => {
    const until = leave();
    batch(() => {
      id.value = wanted;
      state.value = "loading";
      exchanges.value = [];
      live.value = undefined;
    });
    await load(wanted, until).catch((error: unknown) => {
      if (!until.aborted) state.value = error instanceof ApiError && error.status === 404 ? "missing" : "failed";
    });
  };

  /** Follows one answer to its end, or until the reader leaves it. */
  const run = async (target: Exchange, base: Answer, send: Send): Promise<void> => {
    const until = leave();
    let isKept = false;
    batch(() => {
      target.answer.value = base;
      live.value = target;
    });
    const frames = new Frames<WireEvent>((events) => {
      if (!until.aborted) target.answer.value = events.reduce(applyEvent, target.answer.value);
    });
    const onEvent = (event: WireEvent) => {
      if (event.type === "conversation") {
        isKept = true;
        if (event.id !== id.value) adopt(event.id);
        if (isStopWanted) void stop();
      }
      frames.push(event);
    };
    const reopen = (after: number | undefined) => {
      if (id.value === undefined) throw new ApiError(404, { code: "not-running", message: "" });
      return client.events(id.value, after, until);
    };
    try {
      const end = await follow({
        open: () => send(until),
        reopen,
        onEvent,
        onConnection: (now) => {
          if (!until.aborted) connection.value = now;
        },
        signal: until,
      });
      frames.flush();
      if (end === "gone") {
        if (id.value === undefined) throw new ApiError(0, { code: "offline", message: "" });
        const shown = target.answer.value;
        await load(id.value, until);
        // A server that has ended keeps nothing of an answer that it was making; the reader has seen it.
        const kept = last.value;
        if (kept?.answer.value.phase === "missing" && kept.question === target.question && shown.text !== "") {
          kept.answer.value = failedAnswer(shown, { code: "interrupted", message: "" });
        }
      }
    } catch (error) {
      if (until.aborted) return;
      frames.flush();
      target.answer.value = failedAnswer(target.answer.value, failureOf(error));
    }
    if (until.aborted) return;
    if (!isKept) sendAgain = () => run(target, base, send);
    onProgress();
  };

  /** Runs a request that may end without a new answer; the server's stored answer is shown again in that case. */
  const runOver = async (base: Answer, send: Send) => {
    const target = last.value;
    if (!target || id.value === undefined) return;
    const before = target.answer.value.phase;
    await run(target, base, send);
    const { phase, failure } = target.answer.value;
    const isWithoutEither = before === "missing" || before === "failed";
    if (phase !== "stopped" && (!failure || isWithoutEither)) return;
    await load(id.value, reader.signal).then(
      () => (sendAgain = undefined),
      () => undefined,
    );
    if (failure && last.value) last.value.answer.value = { ...last.value.answer.value, failure };
  };

  const stop = async () => {
    if (!running.value) return;
    isStopWanted = id.value === undefined;
    if (id.value !== undefined) await client.stop(id.value);
  };

  const regenerate = async () => {
    const conversation = id.value;
    if (conversation !== undefined)
      await runOver(beginAnswer(), (until) => client.regenerate(conversation, askingWith(last.value?.images), until));
  };

  const decide = async (approvals: Readonly<Record<string, boolean>>) => {
    const conversation = id.value;
    const answer = last.value?.answer.value;
    if (conversation === undefined || !answer) return;
    await runOver(resumedAnswer(answer), (until) => client.approve(conversation, approvals, asking(), until));
  };

  return {
    id,
    state,
    exchanges,
    draft,
    connection,
    live,
    last,
    running,
    open,
    stop,
    regenerate,
    /** Continues a waiting answer with a decision for each of its calls; without any, with the earlier decisions. */
    decide,
    startNew: () => {
      leave();
      batch(() => {
        id.value = undefined;
        state.value = "ready";
        exchanges.value = [];
        live.value = undefined;
      });
    },
    ask: async (question: string, images: readonly string[] = []) => {
      const conversation = id.value;
      const how = askingWith(images);
      const asked = exchange(question, beginAnswer(), images);
      exchanges.value = [...exchanges.value, asked];
      await run(asked, beginAnswer(), (until) =>
        conversation === undefined
          ? client.begin(question, how, until)
          : client.ask(conversation, question, how, until),
      );
    },
    /** Asks another question in place of one, in a new conversation that begins with those before it. */
    edit: async (edited: Exchange, question: string) => {
      const conversation = id.value;
      if (conversation === undefined) return;
      const before = exchanges.value.slice(0, exchanges.value.indexOf(edited));
      const asked = exchange(question, beginAnswer(), edited.images);
      const how = askingWith(edited.images);
      exchanges.value = [...before, asked];
      const from = { exchanges: before.length, question };
      await run(asked, beginAnswer(), (until) => client.branch(conversation, from, how, until));
    },
    /** Rates an answer, or takes the rating back. */
    rate: async (rated: Exchange, feedback: Answer["feedback"]) => {
      const conversation = id.value;
      if (conversation === undefined) return;
      const before = rated.answer.value.feedback;
      rated.answer.value = { ...rated.answer.value, feedback };
      const position = exchanges.value.indexOf(rated) + 1;
      await client.rate(conversation, position, feedback).catch((error: unknown) => {
        rated.answer.value = { ...rated.answer.value, feedback: before };
        throw error;
      });
    },
    /** Searches for an old question again, to show what can be looked at. */
    lookAgain: async (old: Exchange) => {
      const { considered } = await client.search(old.question);
      old.answer.value = { ...old.answer.value, considered, isLookedAgain: true };
    },
    /** Tries the last question again, whether or not the server has heard it. */
    retry: () => {
      if (sendAgain) return sendAgain();
      return last.value?.answer.value.phase === "waiting" ? decide({}) : regenerate();
    },
  };
}
