import { getDocument, PDFWorker, type PDFDocumentProxy } from "pdfjs-dist";

/** Pictures of more pixels are left out, so that no page takes all memory. */
const maxPicturePixels = 64_000_000;
/** Larger canvases are drawn coarser. */
const maxCanvasBytes = 4 * 24_000_000;
/** Each part is a request, which the server counts and records. */
const bytesPerRequest = 1_048_576;

interface TrustedTypePolicy {
  readonly createScriptURL: (address: string) => string;
}
interface TrustedTypes {
  readonly createPolicy: (name: string, rules: TrustedTypePolicy) => TrustedTypePolicy;
}

const folder = new URL(".", import.meta.url).href;
const workerAddress = new URL("pdf-worker.js", folder).href;
const { trustedTypes } = window as { readonly trustedTypes?: TrustedTypes };
/** The page's policy lets threads be named by a trusted address alone, of which this is the only one. */
const workerPolicy = trustedTypes?.createPolicy("citewell-worker", { createScriptURL: () => workerAddress });

export interface OpenPdf {
  readonly pdf: PDFDocumentProxy;
  readonly close: () => void;
}

/** The original is at another address, from which the page's policy lets nothing be read. */
export class KeptElsewhere extends Error {}

/** @throws KeptElsewhere when the server leads elsewhere, which reading it would only show as a breach of the policy. */
async function assertHere(address: string): Promise<void> {
  const { type } = await fetch(address, { method: "HEAD", redirect: "manual" });
  if (type === "opaqueredirect") throw new KeptElsewhere("The original is kept elsewhere");
}

/**
 * Opens a PDF in a thread of its own, and fetches only those parts that its pages need. Nothing in it runs: neither its scripts
 * nor its forms.
 *
 * @throws KeptElsewhere for an original at another address, PDF.js's error for a file that it cannot read, and the thread's own when it does not start.
 */
export async function openPdf(address: string): Promise<OpenPdf> {
  await assertHere(address);
  const port = new Worker(workerPolicy?.createScriptURL(workerAddress) ?? workerAddress, { type: "module" });
  const task = getDocument({
    url: address,
    worker: new PDFWorker({ port } as object),
    isEvalSupported: false,
    enableXfa: false,
    // Decoders in WebAssembly would need a wider policy; the one for JPEG 2000 has a slower form without it.
    useWasm: false,
    wasmUrl: folder,
    // Fonts of Chinese, Japanese and Korean that are not in the file name their characters by these.
    cMapUrl: `${folder}cmaps/`,
    cMapPacked: true,
    disableAutoFetch: true,
    disableStream: true,
    rangeChunkSize: bytesPerRequest,
    maxImageSize: maxPicturePixels,
    canvasMaxAreaInBytes: maxCanvasBytes,
    verbosity: 0,
  });
  const close = () => {
    void task.destroy().finally(() => port.terminate());
  };
  // PDF.js would wait forever for a thread that never came up.
  const broken = new Promise<never>((_, reject) => {
    port.addEventListener("error", () => reject(new Error("The thread that reads PDFs did not start")));
  });
  try {
    return { pdf: await Promise.race([task.promise, broken]), close };
  } catch (error) {
    close();
    throw error;
  }
}
