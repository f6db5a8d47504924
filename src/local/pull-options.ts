/** Progress of a download. */
export interface PullProgress {
  /** The file that is being fetched. */
  readonly file: string;
  /** Bytes of all files that are there. */
  readonly bytes: number;
  /** Bytes of all files whose size the hub states. */
  readonly totalBytes: number;
}

export interface PullModelOptions {
  /** Folder of models; this one gets a folder of its own in it, `owner/name`. It is made where it is missing. */
  readonly folder: string;
  /** Address of the hub, or of a mirror that answers as it does. Default: `https://huggingface.co`. */
  readonly endpoint?: string;
  /** Token of the hub, for models with restricted access; it is sent to `endpoint` alone. Default: none. */
  readonly token?: string;
  /** Address of a proxy, such as `http://proxy.example.com:3128`. Default: none. */
  readonly proxyUrl?: string;
  /** Hosts that are reached without the proxy. Default: none. */
  readonly noProxy?: readonly string[];
  /** Ends the download. Received data is kept, and the next call continues it. */
  readonly signal?: AbortSignal;
  /** Called with the progress of the download, for every piece. Default: nobody is told. */
  readonly onProgress?: (progress: PullProgress) => void;
}
