import { OptionsError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import { resolve } from "../../core/options.js";
import type { Verification, VerifyOptions } from "../../core/ports.js";
import type { StoreFolder } from "../database/store-folder.js";
import { type Dense, savedQuantization } from "../dense/dense.js";
import { verifyOptions } from "../call-options.js";
import { conversationProblems, repairConversations } from "../conversations/embedded-conversations.js";
import { savedLatentProblem } from "../latent/latent-index.js";
import { type LexicalIndex, savedLexicalProblem } from "../lexical/lexical-index.js";
import { checkOnThread } from "./check-thread.js";
import { repair } from "./repair.js";

export interface VerifiedStore {
  /** Folder that the caller named, which holds the conversations. */
  readonly location: string;
  readonly folder: StoreFolder;
  /** Id of the store. */
  readonly id: string;
  readonly dense: Dense;
  readonly lexical: Pick<LexicalIndex, "beginAgain">;
  /** Runs work while this thread holds the write lock. */
  readonly withLock: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Checks the database and the saved indexes, repairs them if asked to, and measures the recall of dense search. */
export async function verifyStore(store: VerifiedStore, options: VerifyOptions): Promise<Verification> {
  const { location, folder, id, dense, lexical, withLock } = store;
  const { sample, repair: mayRepair, dropUnusedVectors, signal } = resolve("verify", verifyOptions, options);
  if (dropUnusedVectors && !mayRepair) {
    throw new OptionsError("options", "verify: dropUnusedVectors changes the store, so it needs repair: true");
  }
  const check = async () => {
    const database = await checkOnThread(folder.databasePath, signal);
    const [vectors, ...others] = await Promise.all([
      dense.savedProblems(),
      savedLexicalProblem(folder.path, id),
      savedLatentProblem(folder.path, id),
    ]);
    const indexes = [...vectors, ...others].filter((problem) => problem !== undefined);
    const conversations = conversationProblems(location);
    return { ...database, indexes, conversations, all: [...database.problems, ...indexes, ...conversations] };
  };
  const checkAndRepair = async () => {
    const before = await check();
    signal?.throwIfAborted();
    if (!before.all.every((problem) => problem.repairable)) return { before, after: before, repaired: false };
    if (before.all.length === 0 && !dropUnusedVectors) return { before, after: before, repaired: true };
    const dropped = repair(folder, before.damaged, before.indexes, dropUnusedVectors);
    // The lexical index reads its files on demand, and would save damaged ones again.
    if (before.indexes.some(({ what }) => what === "lexical")) lexical.beginAgain();
    if (before.conversations.length > 0) repairConversations(location);
    const droppedVectors = dropUnusedVectors ? { droppedVectors: dropped } : {};
    return { before, after: await check(), repaired: true, ...droppedVectors };
  };
  const checkOnly = async () => {
    const before = await check();
    return { before, after: before, repaired: false };
  };
  const { before, after, ...outcome } = mayRepair ? await withLock(checkAndRepair) : await checkOnly();
  const recall = after.problems.length === 0 ? await dense.measureRecall(sample, signal) : undefined;
  const quantization = savedQuantization(folder.path);
  return { ok: after.all.length === 0, problems: before.all, recall, ...given({ quantization }), ...outcome };
}
