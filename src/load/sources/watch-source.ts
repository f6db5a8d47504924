import { basename, relative, sep } from "node:path";
import { z } from "zod";
import { asError, LoadError, OptionsError } from "../../core/errors.js";
import { abortSignal } from "../../core/call-options.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { DocumentSource } from "./source.js";

export interface WatchSourceOptions {
  /** Stops watching and ends the loop, without an error. Default: it goes on for ever. */
  readonly signal?: AbortSignal;
  /** How long nothing must have changed before changes are handed on, in milliseconds, 10 to 60,000. Default: 300. */
  readonly quietMs?: number;
  /** Maximum time for which a change waits while others go on, in milliseconds, 10 or more. Default: 5,000. */
  readonly maxWaitMs?: number;
}

const watchSourceOptions = optionsOf<WatchSourceOptions>()({
  signal: abortSignal.optional(),
  quietMs: z.int().min(10).max(60_000).default(300),
  maxWaitMs: z.int().min(10).default(5000),
});

/**
 * Follows a source: yields first the whole of it, then after each burst of changes a source of the files that were added,
 * changed or deleted. Changes that come while you work are collected for the next one. Leaving the loop stops watching; an
 * aborted `signal` ends the loop.
 *
 * @throws OptionsError for a source that is not made of files, LoadError (`unreadable`) when the system stops watching.
 * @example
 * ```ts
 * import { openKnowledgeBase, readFolder } from "citewell";
 * import { watchSource } from "citewell/load";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * for await (const part of watchSource(readFolder("./docs"))) await kb.ingest(part);
 * ```
 */
export async function* watchSource(
  source: DocumentSource,
  options: WatchSourceOptions = {},
): AsyncGenerator<DocumentSource> {
  const { signal, quietMs, maxWaitMs } = resolve("watchSource", watchSourceOptions, options);
  const { files } = source;
  if (!files) throw new OptionsError("options", `watchSource: ${source.id} is not made of files that can be watched`);
  if (signal?.aborted) return;
  const { watch } = await import("chokidar");
  const changes = new Changes();
  const watcher = watch([...files.roots], {
    ignoreInitial: true,
    // A loop of links would end the process.
    followSymlinks: false,
    ignored: (path) => isIgnored(path, files.roots),
  });
  const stop = () => changes.end();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    watcher.on("all", (_, path) => changes.add(path));
    watcher.on("error", (error) => changes.end(unwatchable(source.id, error)));
    // From here on nothing is missed: a file that changes while the whole is read comes again.
    await Promise.race([new Promise<void>((ready) => watcher.once("ready", ready)), changes.ended]);
    if (signal?.aborted) return;
    yield source;
    const next = () => changes.take(quietMs, maxWaitMs);
    for (let changed = await next(); changed; changed = await next()) {
      // A changed rule may concern any file.
      yield [...changed].some((path) => basename(path) === ".gitignore") ? source : files.only(changed);
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    await watcher.close();
  }
}

/** Whether the walk through a folder passes a path over as well, so that it needs no watch. */
function isIgnored(path: string, roots: readonly string[]): boolean {
  const root = roots.find((folder) => path === folder || path.startsWith(folder + sep));
  const parts = root === undefined ? [] : relative(root, path).split(sep);
  return parts.some((part) => part === "node_modules" || (part.startsWith(".") && part !== ".gitignore"));
}

function unwatchable(id: string, thrown: unknown): LoadError {
  const cause = asError(thrown);
  const full = "code" in cause && (cause.code === "ENOSPC" || cause.code === "EMFILE");
  const hint = full ? "Allow the system more file watches, or watch a smaller folder" : "Begin again";
  return new LoadError("unreadable", id, `Changes of ${id} cannot be watched any more: ${cause.message}. ${hint}`, {
    cause,
  });
}

/** Paths that changed, until they are taken. */
class Changes {
  #paths = new Set<string>();
  #firstAt = 0;
  #lastAt = 0;
  #wake = () => {};
  #end!: () => void;
  #isOver = false;
  #error: Error | undefined;
  readonly ended = new Promise<void>((resolved) => {
    this.#end = resolved;
  });

  add(path: string): void {
    this.#lastAt = performance.now();
    if (this.#paths.size === 0) this.#firstAt = this.#lastAt;
    this.#paths.add(path);
    this.#wake();
  }

  end(error?: Error): void {
    this.#isOver = true;
    this.#error = error;
    this.#end();
    this.#wake();
  }

  /** All changes, once it is quiet or the first has waited long enough; `undefined` when the watching is over. */
  async take(quietMs: number, maxWaitMs: number): Promise<ReadonlySet<string> | undefined> {
    for (;;) {
      if (this.#error) throw this.#error;
      if (this.#isOver) return undefined;
      const due = Math.min(this.#lastAt + quietMs, this.#firstAt + maxWaitMs);
      const waitMs = this.#paths.size === 0 ? Infinity : due - performance.now();
      if (waitMs <= 0) break;
      await this.#changed(waitMs);
    }
    const taken = this.#paths;
    this.#paths = new Set();
    return taken;
  }

  #changed(maxMs: number): Promise<void> {
    return new Promise((resolved) => {
      const timer = maxMs === Infinity ? undefined : setTimeout(resolved, maxMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolved();
      };
    });
  }
}
