import { parentPort } from "node:worker_threads";
import { asError, LoadError } from "../../errors.js";
import { provideTransfer } from "./array-buffer-transfer.js";
import { heavyLoaders } from "./heavy-loaders.js";
import type { FileMessage, LoadedMessage } from "./messages.js";

// The thread is stopped from outside, so nothing in here has to be.
const { signal } = new AbortController();
const port = parentPort!;
provideTransfer();

port.on("message", (message: FileMessage) => {
  void outcome(message).then((answer) => port.postMessage(answer));
});

async function outcome({ format, file }: FileMessage): Promise<LoadedMessage> {
  try {
    return { loaded: await heavyLoaders[format](file, signal) };
  } catch (thrown) {
    const error = asError(thrown);
    return {
      failed: {
        code: error instanceof LoadError ? error.code : undefined,
        message: error.message,
        cause: error.cause === undefined ? undefined : asError(error.cause).message,
      },
    };
  }
}
