import { LoadError } from "../errors.js";
import type { ApartLoading } from "./apart/load-apart.js";
import type { TextFormat } from "./formats.js";
import type { FileToLoad, LoadedText, Loader } from "./loader.js";

export interface LoadBytesOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly apart: ApartLoading;
}

/**
 * What a file's bytes say, by the loader of its format, within the time that a file may take.
 *
 * @throws LoadError as the loader does, or (`timeout`).
 */
export async function loadBytes(file: FileToLoad, format: TextFormat, options: LoadBytesOptions): Promise<LoadedText> {
  if ("apart" in format && (format.load === undefined || file.bytes.length >= format.fromBytes)) {
    return options.apart.load(format.apart, file, options);
  }
  return inTime(format.load!, file, options);
}

async function inTime(load: Loader, file: FileToLoad, { timeoutMs, signal }: LoadBytesOptions): Promise<LoadedText> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    const loaded = load(file, stop.signal);
    if (!(loaded instanceof Promise)) return loaded;
    return await new Promise<LoadedText>((resolve, reject) => {
      const message = `${file.uri} took longer than ${timeoutMs} ms to read: raise timeoutMs`;
      timer = setTimeout(() => stop.abort(new LoadError("timeout", file.uri, message)), timeoutMs);
      stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });
      loaded.then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
