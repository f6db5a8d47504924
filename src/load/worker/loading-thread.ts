import { parentPort } from "node:worker_threads";
import { asError, LoadError, type LoadErrorCode } from "../../core/errors.js";
import { heavyLoaders, type HeavyFormat } from "../formats/heavy-loaders.js";
import type { FileToLoad, LoadedText } from "../formats/loader.js";

/** A file sent to this thread. */
export interface FileMessage {
  readonly format: HeavyFormat;
  readonly file: FileToLoad;
}

/** Says that the file is under way, or the answer. An error crosses as its parts, because copying it would lose its class. */
export type ThreadMessage = "progress" | LoadedMessage;

export type LoadedMessage =
  | { readonly loaded: LoadedText }
  | {
      readonly failed: {
        readonly code: LoadErrorCode | undefined;
        readonly message: string;
        readonly cause: string | undefined;
      };
    };

// The thread is stopped from outside, so that nothing in here has to watch for an abort.
const { signal } = new AbortController();
const port = parentPort!;

port.on("message", (message: FileMessage) => {
  void outcome(message).then((answer) => port.postMessage(answer));
});

function onProgress(): void {
  port.postMessage("progress" satisfies ThreadMessage);
}

async function outcome({ format, file }: FileMessage): Promise<LoadedMessage> {
  try {
    onProgress();
    return { loaded: await heavyLoaders[format](file, signal, onProgress) };
  } catch (thrown) {
    const { message, cause } = asError(thrown);
    const code = thrown instanceof LoadError ? thrown.code : undefined;
    return { failed: { code, message, cause: cause === undefined ? undefined : asError(cause).message } };
  }
}
