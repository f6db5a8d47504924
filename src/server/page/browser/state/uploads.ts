import { computed, signal } from "@preact/signals";
import type { WireStatus, WireUpload } from "../../../api/wire.js";
import type { Client } from "../api/client.js";
import { failureOf } from "../api/http.js";
import { sendFile } from "../api/send-file.js";

/** A file that the server does not have yet. */
export interface Sending {
  readonly file: File;
  /** 0 to 1. */
  readonly share: number;
  readonly refusal?: Refusal;
  readonly cancel: AbortController;
}

/** Reason for a refused file: one of the page's own, or the server's words. */
export type Refusal = "too-large" | "other-kind" | "broken" | { readonly message: string };

const pollMs = 700;

export interface UploadListener {
  /** Called when the collection has changed. */
  readonly onChange: () => void;
  /** Called for each file that was added here and is read. */
  readonly onRead: (upload: WireUpload) => void;
  readonly onRemove: (upload: WireUpload) => void;
}

export type Uploads = ReturnType<typeof createUploads>;

/** Files that are being uploaded, and those uploaded before. */
export function createUploads(client: Client, url: (path: string) => string, listener: UploadListener) {
  const sending = signal<readonly Sending[]>([]);
  const list = signal<readonly WireUpload[]>([]);
  /** Names of files that were added since the page was opened, which the chat shows above the question field. */
  const recentNames = signal<ReadonlySet<string>>(new Set());
  let timer: ReturnType<typeof setTimeout> | undefined;

  const change = (file: File, to: Partial<Sending> | undefined) => {
    sending.value = sending.value.flatMap((upload) =>
      upload.file !== file ? [upload] : to ? [{ ...upload, ...to }] : [],
    );
  };

  const refresh = async () => {
    clearTimeout(timer);
    const before = list.value.filter(isUnderWay).map(({ name }) => name);
    list.value = await client.uploads();
    const underWay = list.value.filter(isUnderWay).length;
    if (underWay < before.length) listener.onChange();
    const read = list.value.filter(({ name, state }) => state === "done" && before.includes(name));
    for (const upload of read) if (recentNames.value.has(upload.name)) listener.onRead(upload);
    if (underWay > 0) timer = setTimeout(() => void refresh().catch(() => undefined), pollMs);
  };

  const send = async (file: File) => {
    const cancel = new AbortController();
    change(file, undefined);
    sending.value = [...sending.value, { file, share: 0, cancel }];
    try {
      const path = url(client.uploadPath(file.name));
      const upload = await sendFile(path, file, (share) => change(file, { share }), cancel.signal);
      recentNames.value = new Set([...recentNames.value, upload.name]);
      list.value = [...list.value.filter(({ name }) => name !== upload.name), upload];
      change(file, undefined);
      await refresh();
      listener.onChange();
    } catch (error) {
      if (cancel.signal.aborted) return;
      const { code, message } = failureOf(error);
      change(file, { refusal: code === "offline" ? "broken" : { message } });
    }
  };

  return {
    sending,
    list,
    recent: computed(() => list.value.filter(({ name }) => recentNames.value.has(name))),
    refresh,
    add: async (files: readonly File[], limits: NonNullable<WireStatus["uploads"]>) => {
      for (const file of files) {
        const refusal = refusalOf(file, limits);
        if (refusal) sending.value = [...sending.value, { file, share: 0, refusal, cancel: new AbortController() }];
        else await send(file);
      }
    },
    retrySending: send,
    cancelSending: (file: File) => {
      sending.value.find((upload) => upload.file === file)?.cancel.abort();
      change(file, undefined);
    },
    retry: async (name: string) => {
      await client.retryUpload(name);
      await refresh();
    },
    remove: async (name: string) => {
      const removed = list.value.find((upload) => upload.name === name);
      await client.removeUpload(name);
      if (removed) listener.onRemove(removed);
      await refresh();
      listener.onChange();
    },
    /** Takes a file out of the list above the question field. */
    dismiss: (name: string) => {
      recentNames.value = new Set([...recentNames.value].filter((each) => each !== name));
    },
  };
}

function isUnderWay({ state }: WireUpload): boolean {
  return state === "waiting" || state === "reading";
}

function refusalOf({ name, size }: File, limits: NonNullable<WireStatus["uploads"]>): Refusal | undefined {
  if (!limits.endings.some((ending) => name.toLowerCase().endsWith(ending.toLowerCase()))) return "other-kind";
  return size > limits.maxBytes ? "too-large" : undefined;
}
