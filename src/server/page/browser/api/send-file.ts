import type { WireFailure, WireUpload } from "../../../api/wire.js";
import { ApiError } from "./http.js";

/** Sends a file and reports the share that has been sent, 0 to 1, which `fetch` cannot tell. */
export function sendFile(
  url: string,
  file: File,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<WireUpload> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    request.responseType = "json";
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener("error", () => reject(new ApiError(0, { code: "offline", message: "" })));
    request.addEventListener("abort", () => reject(signal.reason as Error));
    request.addEventListener("load", () => {
      if (request.status < 300) return resolve(request.response as WireUpload);
      const reply = request.response as { readonly error?: WireFailure } | null;
      const failure = reply?.error ?? { code: "http", message: `HTTP ${request.status}` };
      return reject(new ApiError(request.status, failure));
    });
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}
