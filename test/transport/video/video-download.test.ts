// In test:all alone: it waits for slow downloads, for 12 s.
import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import type { TransportOptions } from "../../../src/transport/options.js";
import type { Transport } from "../../../src/transport/transport.js";
import type { DownloadVideoOptions } from "../../../src/transport/video/download.js";
import type { VideoTask } from "../../../src/transport/video/task.js";
import { type RecordedRequest, type ScriptedReply, scriptedUpstream } from "../../support/scripted-upstream.js";
import { silentHost } from "../../support/silent-host.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { failure, transportFor } from "../../support/transport-for.js";

const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7) % 251));
const binary = { "content-type": "video/mp4" };

/** Answers ranges the way file servers do. */
function served(request: RecordedRequest): ScriptedReply {
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  if (start === 0) return { chunks: [bytes], headers: { ...binary, "content-length": String(bytes.length) } };
  if (start >= bytes.length) {
    return { status: 416, chunks: [""], headers: { ...binary, "content-range": `bytes */${bytes.length}` } };
  }
  const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
  return { status: 206, chunks: [bytes.subarray(start)], headers: { ...binary, "content-range": range } };
}

/** Breaks off after 40,001 bytes. What has just arrived is lost with the connection, hence the gap. */
const half: ScriptedReply = {
  chunks: [bytes.subarray(0, 40_000), bytes.subarray(40_000, 40_001)],
  gapMs: 150,
  headers: { ...binary, "content-length": String(bytes.length) },
  destroy: true,
};

async function setting(
  script: Parameters<typeof scriptedUpstream>[0],
  task: Partial<VideoTask> = {},
  options: Partial<TransportOptions> = {},
) {
  const files = await scriptedUpstream(script);
  const { transport } = await transportFor([], options);
  const folder = await temporaryFolder();
  const path = join(folder, "cat.mp4");
  const finished: VideoTask = {
    id: "cgt-1",
    status: "succeeded",
    finished: true,
    videoUrl: `${files.baseUrl}/v.mp4?sig=1`,
    raw: {},
    ...task,
  };
  const download = (by: Transport = transport, call?: DownloadVideoOptions) => by.downloadVideo(finished, path, call);
  return { files, folder, path, finished, download, transport };
}

test("a video is streamed into a file, without the key (V11)", async () => {
  const { files, folder, path, download } = await setting(served);
  expect(await download()).toEqual({ path, sizeBytes: bytes.length, resumedBytes: 0 });
  expect(await readFile(path)).toEqual(bytes);
  expect(await readdir(folder)).toEqual(["cat.mp4"]);
  expect(files.requests[0]!.headers.authorization).toBeUndefined();
  expect(files.requests[0]!.path).toBe("/v.mp4?sig=1");
});

test("a video that its server sends in gzip is decoded, and what was left of it is fetched anew", async () => {
  const packed = gzipSync(bytes);
  const headers = { ...binary, "content-encoding": "gzip", "content-length": String(packed.length) };
  const torn = { chunks: [packed.subarray(0, 300), packed.subarray(300, 301)], gapMs: 150, headers, destroy: true };
  const part = {
    status: 206,
    chunks: [packed.subarray(9)],
    headers: { ...headers, "content-range": "bytes 9-99/100" },
  };
  const { path, download } = await setting([torn, part, { chunks: [packed], headers }], {}, { backoffMs: 1 });
  expect(await download()).toEqual({ path, sizeBytes: bytes.length, resumedBytes: 0 });
  expect(await readFile(path)).toEqual(bytes);
});

describe("an interrupted download goes on where it stopped", () => {
  test("within the call", async () => {
    const { files, path, download } = await setting((request, index) => (index === 0 ? half : served(request)));
    const { resumedBytes } = await download();
    expect(await readFile(path)).toEqual(bytes);
    expect(resumedBytes).toBeGreaterThan(0);
    expect(files.requests[1]!.headers.range).toBe(`bytes=${resumedBytes}-`);
  });

  test("in a later one, with a link signed anew; until then there is no file under its name", async () => {
    const { files, folder, path, finished, download, transport } = await setting(
      (request, index) => (index === 0 ? half : served(request)),
      {},
      { maxRetries: 0 },
    );
    const error = await failure(download());
    expect(error).toMatchObject({ code: "download", taskId: "cgt-1" });
    const [left] = await readdir(folder);
    expect(left).toMatch(/^cat\.mp4\.[0-9a-f]+\.part$/);
    expect(String(error)).toContain(left);
    const again = { ...finished, videoUrl: finished.videoUrl!.replace("sig=1", "sig=2") };
    expect((await transport.downloadVideo(again, path)).resumedBytes).toBeGreaterThan(0);
    expect(await readFile(path)).toEqual(bytes);
    expect(files.requests[1]!.path).toBe("/v.mp4?sig=2");
  });

  test("from the beginning when the server knows no ranges, and when the bytes belong to something else", async () => {
    const whole = { chunks: [bytes], headers: binary };
    const plain = await setting([half, whole]);
    expect(await plain.download()).toMatchObject({ resumedBytes: 0 });
    expect(await readFile(plain.path)).toEqual(bytes);

    const shrunk = bytes.subarray(0, 10);
    const other = await setting([
      half,
      { status: 416, chunks: [""], headers: { ...binary, "content-range": "bytes */10" } },
      { chunks: [shrunk], headers: binary },
    ]);
    await other.download();
    expect(await readFile(other.path)).toEqual(shrunk);
  });

  test("from the beginning when the server sends another part than was asked for", async () => {
    const range = { ...binary, "content-range": `bytes 0-${bytes.length - 1}/${bytes.length}` };
    const { files, path, download } = await setting([
      half,
      { status: 206, chunks: [bytes], headers: range },
      served({ headers: {} } as RecordedRequest),
    ]);
    expect(await download()).toMatchObject({ resumedBytes: 0 });
    expect(await readFile(path)).toEqual(bytes);
    expect(files.requests[2]!.headers.range).toBeUndefined();
  });

  test("as often as the server gives no more than a part of what is left", async () => {
    const part = ({ headers }: RecordedRequest): ScriptedReply => {
      const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1]);
      const end = Math.min(bytes.length, start + 30_000);
      const range = { ...binary, "content-range": `bytes ${start}-${end - 1}/${bytes.length}` };
      return { status: 206, chunks: [bytes.subarray(start, end)], headers: range };
    };
    const { files, path, download } = await setting((request, index) => (index === 0 ? half : part(request)));
    expect(await download()).toMatchObject({ resumedBytes: 70_001 });
    expect(await readFile(path)).toEqual(bytes);
    expect(files.requests).toHaveLength(3);
  });

  test("never from the bytes of another task at the same path", async () => {
    const first = await setting([half], {}, { maxRetries: 0 });
    await failure(first.download());
    const { finished, path, files } = await setting(served);
    await first.transport.downloadVideo({ ...finished, id: "cgt-2" }, first.path);
    expect(files.requests[0]!.headers.range).toBeUndefined();
    expect(await readFile(first.path)).toEqual(bytes);
    expect(path).not.toBe(first.path);
  });

  test("and is complete when all of it was there already", async () => {
    const script = (request: RecordedRequest, index: number) => (index === 0 ? half : served(request));
    const { folder, path, download } = await setting(script, {}, { maxRetries: 0 });
    await failure(download());
    const [left] = await readdir(folder);
    await writeFile(join(folder, left!), bytes);
    expect(await download()).toMatchObject({ sizeBytes: bytes.length, resumedBytes: bytes.length });
    expect(await readFile(path)).toEqual(bytes);
  });
});

describe("a link that no longer works (V10)", () => {
  const past = new Date(Date.now() - 3_600_000);

  test.each([401, 403, 404, 410])(
    "after its 24 hours, with status %i, is called expired, with the time",
    async (status) => {
      const { files, folder, download } = await setting(() => ({ status }), { linksExpireAt: past });
      const error = await failure(download());
      expect(error).toMatchObject({ code: "link-expired", expiresAt: past, taskId: "cgt-1" });
      expect(String(error)).toContain(past.toISOString());
      expect(files.requests).toHaveLength(1);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test("before them, says to ask for a fresh one", async () => {
    const { download } = await setting(() => ({ status: 403 }), { linksExpireAt: new Date(Date.now() + 1e6) });
    const error = await failure(download());
    expect(error).toMatchObject({ code: "download" });
    expect(String(error)).toMatch(/status 403.*fresh link/);
  });

  test("after them is tried all the same: it may still work", async () => {
    const { path, download } = await setting(served, { linksExpireAt: past });
    await download();
    expect(await readFile(path)).toEqual(bytes);
  });
});

test("a server that fails for a moment is asked again, up to maxRetries", async () => {
  const { files, download } = await setting((request, index) => (index < 2 ? { status: 503 } : served(request)));
  await download();
  expect(files.requests).toHaveLength(3);
  const dead = await setting(() => ({ status: 500 }), {}, { maxRetries: 1 });
  expect(String(await failure(dead.download()))).toMatch(/after 2 attempts.*status 500/);
});

test("redirects are followed: there is no key to lose", async () => {
  const files = await scriptedUpstream(served);
  const { path, download } = await setting([{ status: 302, headers: { location: `${files.baseUrl}/else` } }]);
  await download();
  expect(await readFile(path)).toEqual(bytes);
});

test("a task without the result says why", async () => {
  const { download, transport } = await setting([], {});
  expect(String(await failure(download(transport, { part: "last-frame" })))).toMatch(
    /no last-frame.*return_last_frame/,
  );
  const task = { id: "a", status: "running", finished: false, raw: {} };
  expect(await failure(transport.downloadVideo(task, "x"))).toMatchObject({ code: "no-media" });
});

/** The first 40,001 bytes, and then silence. */
const stalled: ScriptedReply = { ...half, destroy: false, hang: true };

describe("a download that is ended while it runs keeps what arrived, and gives it no name of its own:", () => {
  test("an abort is thrown as it is", async () => {
    const { folder, download, transport } = await setting([stalled]);
    const stop = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => stop.abort(reason), 300);
    expect(await failure(download(transport, { signal: stop.signal }))).toBe(reason);
    expect(await readdir(folder)).toEqual([expect.stringMatching(/\.part$/)]);
  });

  test("a deadline is reported", async () => {
    const { folder, download, transport } = await setting([stalled]);
    const error = await failure(download(transport, { deadlineMs: 700 }));
    expect(error).toMatchObject({ code: "download", taskId: "cgt-1" });
    expect(String(error)).toMatch(/deadline of 700 ms passed.*goes on from there/);
    expect(await readdir(folder)).toEqual([expect.stringMatching(/\.part$/)]);
  });

  test("the transport's closing is reported, waits for the file, and another transport goes on", async () => {
    const { files, folder, path, download, transport } = await setting((request, index) =>
      index === 0 ? stalled : served(request),
    );
    const ending = failure(download());
    await vi.waitFor(
      async () => expect((await stat(join(folder, (await readdir(folder))[0]!))).size).toBe(40_001),
      5000,
    );
    await transport.close();
    const error = await Promise.race([ending, new Promise((resolve) => setImmediate(resolve, "still busy"))]);
    expect(error).toMatchObject({ code: "download" });
    expect(String(error)).toMatch(/the transport was closed.*The 40001 bytes that arrived are in .*goes on from there/);
    expect(await files.requests[0]!.end).toBe("closed");
    expect(await readdir(folder)).toEqual([expect.stringMatching(/\.part$/)]);
    const { transport: other } = await transportFor([]);
    expect(await download(other)).toMatchObject({ resumedBytes: 40_001, sizeBytes: bytes.length });
    expect(await readFile(path)).toEqual(bytes);
    expect(await readdir(folder)).toEqual(["cat.mp4"]);
  });

  test("its wait between two attempts ends too", async () => {
    const { download, transport } = await setting(
      () => ({ status: 503 }),
      {},
      { backoffMs: 60_000, maxBackoffMs: 60_000 },
    );
    const ending = failure(download());
    setTimeout(() => void transport.close(), 200);
    expect(String(await ending)).toContain("the transport was closed");
  });
});

describe("a download that is ended while it connects leaves nothing:", () => {
  const ends: readonly (readonly [string, (by: Transport, stop: AbortController) => unknown])[] = [
    ["closing", (transport) => transport.close()],
    ["an abort", (_, stop) => stop.abort(new Error("enough"))],
  ];

  test.each(ends)("%s", async (_, end) => {
    const silent = await silentHost();
    const { folder, download, transport } = await setting([], { videoUrl: `https://${silent.host}/v.mp4` });
    const stop = new AbortController();
    const ending = failure(download(transport, { signal: stop.signal }));
    await vi.waitFor(() => expect(silent.accepted).toBe(1), 2000);
    await end(transport, stop);
    expect(String(await ending)).toMatch(/the transport was closed$|enough$/);
    await vi.waitFor(() => expect(silent.open.size).toBe(0), 2000);
    expect(await readdir(folder)).toEqual([]);
  });

  test("a deadline", async () => {
    const silent = await silentHost();
    const { folder, download, transport } = await setting([], { videoUrl: `https://${silent.host}/v.mp4` });
    expect(String(await failure(download(transport, { deadlineMs: 300 })))).toMatch(/deadline of 300 ms passed$/);
    await vi.waitFor(() => expect(silent.open.size).toBe(0), 2000);
    expect(await readdir(folder)).toEqual([]);
  });
});

test("a closed transport downloads nothing", async () => {
  const { files, folder, download, transport } = await setting(served);
  await transport.close();
  expect(await failure(download())).toMatchObject({ code: "request", operation: "downloadVideo" });
  expect([files.requests, await readdir(folder)]).toEqual([[], []]);
});

test("a file that cannot be written causes an error that says why, without a retry", async () => {
  const long = { backoffMs: 60_000, maxBackoffMs: 60_000 };
  const { files, folder, finished, transport } = await setting(served, {}, long);
  const error = await failure(transport.downloadVideo(finished, join(folder, "none", "cat.mp4")));
  expect(String(error)).toMatch(/could not be written: there is no folder .*none$/);
  expect(files.requests).toHaveLength(0);
});

test("bytes from a link that is refused before its time are kept for a fresh one (V10)", async () => {
  const soon = new Date(Date.now() + 1e6);
  const { folder, download } = await setting([half, { status: 403 }], { linksExpireAt: soon }, { maxRetries: 1 });
  expect(String(await failure(download()))).toMatch(/status 403.*fresh link/);
  expect(await readdir(folder)).toEqual([expect.stringMatching(/\.part$/)]);
});
