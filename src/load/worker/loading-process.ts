import { serveCalls } from "../../thread/serve-calls.js";
import { callsToProcess } from "../../thread/worker-process.js";
import { heavyLoaders, pagePictures, type HeavyFormat, type PagePicture } from "../formats/heavy-loaders.js";
import type { FileToLoad, LoadedText } from "../formats/loader.js";

export interface LoadCall {
  readonly format: HeavyFormat;
  readonly file: FileToLoad;
}

export interface PicturesCall {
  readonly file: FileToLoad;
  /** Numbers of pages, from 1. */
  readonly pages: readonly number[];
}

/** The calls that the process answers. While it works on a file, it also says "progress". It is ended from outside. */
export type LoadCalls = {
  readonly load: { readonly argument: LoadCall; readonly result: LoadedText };
  /** The pictures on each of some pages of a PDF, as PNG. */
  readonly pictures: { readonly argument: PicturesCall; readonly result: readonly (readonly PagePicture[])[] };
};

const port = callsToProcess();
const { signal } = new AbortController();
const onProgress = () => port.postMessage("progress");

serveCalls<LoadCalls>(port, {
  load: ({ format, file }) => {
    onProgress();
    return heavyLoaders[format](file, signal, onProgress);
  },
  pictures: ({ file, pages }) => pagePictures(file, pages, signal, onProgress),
});
