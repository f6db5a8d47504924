import { serveCalls } from "../../thread/serve-calls.js";
import { callsToProcess } from "../../thread/worker-process.js";
import { heavyLoaders, type HeavyFormat } from "../formats/heavy-loaders.js";
import type { FileToLoad, LoadedText } from "../formats/loader.js";

export interface LoadCall {
  readonly format: HeavyFormat;
  readonly file: FileToLoad;
}

/** The call that the process answers. While it loads a file, it also says "progress". It is ended from outside. */
export type LoadCalls = { readonly load: { readonly argument: LoadCall; readonly result: LoadedText } };

const port = callsToProcess();
const { signal } = new AbortController();
const onProgress = () => port.postMessage("progress");

serveCalls<LoadCalls>(port, {
  load: ({ format, file }) => {
    onProgress();
    return heavyLoaders[format](file, signal, onProgress);
  },
});
