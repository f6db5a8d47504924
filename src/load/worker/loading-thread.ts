import { parentPort } from "node:worker_threads";
import { serveCalls } from "../../thread/serve-calls.js";
import { heavyLoaders, type HeavyFormat } from "../formats/heavy-loaders.js";
import type { FileToLoad, LoadedText } from "../formats/loader.js";

export interface LoadCall {
  readonly format: HeavyFormat;
  readonly file: FileToLoad;
}

/** The calls that the thread answers. While it loads a file, it also says "progress". */
export type LoadCalls = {
  readonly load: { readonly argument: LoadCall; readonly result: LoadedText };
  /** Ends the thread as soon as nothing is under way in it. */
  readonly end: { readonly argument: undefined; readonly result: void };
};

const ending = new AbortController();
const port = parentPort!;
const onProgress = () => port.postMessage("progress");

serveCalls<LoadCalls>(
  port,
  {
    load: ({ format, file }) => {
      onProgress();
      return heavyLoaders[format](file, ending.signal, onProgress);
    },
    end: () => ending.abort(),
  },
  "end",
);
