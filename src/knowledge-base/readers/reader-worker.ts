import { parentPort, workerData } from "node:worker_threads";
import type { Store } from "../../core/ports.js";
import { createRunContext, type Stage } from "../../core/pipeline.js";
import type { Question, Retrieved } from "../../core/types.js";
import { wholeReplies } from "../../local/in-process.js";
import { search } from "../../stages/retrieval/search.js";
import { openStoreAt } from "../../store/open-store-at.js";
import { serveCalls } from "../../thread/serve-calls.js";
import type { ReaderCalls, ReaderStart, SentSearch } from "./reader-calls.js";

/** Program of a reader: a store of its own over the same files, and the models of the local service. */
const { path, space, dimension, latent, requireScope } = workerData as ReaderStart;
const answerRequest = wholeReplies();
let opened: Promise<Store> | undefined;

function store(): Promise<Store> {
  return (opened ??= openStoreAt(path, { space, ...(dimension !== undefined && { dimension }) }, openOptions));
}

const openOptions = { create: false, requireScope, ...(latent !== undefined && { latent }) };

async function loadIndexes(): Promise<void> {
  const { dense, lexical, latent: words, dimension: length } = await store();
  const query = { text: "a", ...(length !== undefined && { vector: new Float32Array(length).fill(1) }) };
  // An index that cannot be loaded says so to the first search that needs it.
  await Promise.allSettled(
    [dense, lexical, ...(words ? [words] : [])].map((side) => side.retrieve(query, { count: 1 })),
  );
}

async function find({ question, scope, options, deadlineMs }: SentSearch, signal: AbortSignal) {
  const whole = await store();
  const within = scope === undefined ? whole : whole.scoped(scope);
  const searching: Stage<Question, Retrieved> = search(
    within,
    options as typeof options & { readonly mode: "lexical" },
  );
  const context = createRunContext({ signal, ...(deadlineMs !== undefined && { deadlineMs }) });
  for await (const { hits, trace, searchedFor } of searching.run(only(question), context)) {
    return { hits, trace: [...trace], ...(searchedFor !== undefined && { searchedFor }) };
  }
  throw new Error("a search has one result");
}

async function* only(question: Question): AsyncGenerator<Question> {
  yield question;
}

serveCalls<ReaderCalls>(
  parentPort!,
  {
    open: loadIndexes,
    search: find,
    model: (request, signal) => answerRequest(request, signal),
    close: async () => (await opened)?.close(),
  },
  "close",
);
