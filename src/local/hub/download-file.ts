import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { TransportError } from "../../core/errors.js";
import type { HubClient, HubReply } from "./hub-client.js";

/** A file as the hub lists it. */
export interface HubFile {
  readonly name: string;
  readonly sizeBytes: number | undefined;
  /** SHA-256 of large files, or the id that Git gives others. Default: as the reply states it. */
  readonly hash: string | undefined;
}

export interface Target {
  /** Path on the hub, from its address on. */
  readonly hubPath: string;
  /** Path of the finished file. */
  readonly path: string;
  /** The file with its model, for messages. */
  readonly what: string;
  /** Called with the number of the file's bytes that are there. */
  readonly onBytes: (bytes: number) => void;
}

/** 64 digits are SHA-256, 40 the id of Git. A reply may put either in quotes, and `W/` before it. */
const hashPattern = /^(?:W\/)?"?([0-9a-f]{64}|[0-9a-f]{40})"?$/;

/**
 * Fetches one file. What has arrived stands in a file ending in `.part`, which the next attempt, also of another run, goes on
 * with; it gets its name when its hash is that which the hub states.
 *
 * @returns the hash.
 * @throws TransportError `reply` when there is no hash to check by, or the content has another one.
 */
export async function downloadFile(client: HubClient, file: HubFile, target: Target): Promise<string> {
  const { path, what, onBytes } = target;
  const part = `${path}.part`;
  await mkdir(dirname(path), { recursive: true });
  let hash = file.hash;
  for (let attempt = 1, had = -1; ; attempt++) {
    try {
      const start = await bytesIn(part);
      // Bytes that came since the last attempt are progress: only attempts without any are counted.
      if (start > had) [attempt, had] = [1, start];
      onBytes(start);
      const isWhole = file.sizeBytes !== undefined && start >= file.sizeBytes && hash !== undefined;
      if (!isWhole) {
        const range: Record<string, string> = start > 0 ? { range: `bytes=${start}-` } : {};
        const reply = await client.get(target.hubPath, what, range);
        hash ??= statedHash(reply);
        await append(reply, part, start, onBytes);
      }
      break;
    } catch (error) {
      await client.pause(attempt, client.failure(error, what));
    }
  }
  if (hash === undefined) {
    await rm(part, { force: true });
    throw new TransportError("reply", `The hub states no hash of ${what}, so that it cannot be checked`);
  }
  const found = await hashOf(part, hash.length);
  if (found !== hash) {
    await rm(part, { force: true });
    throw new TransportError(
      "reply",
      `${what} arrived damaged: its hash is ${found}, and the hub states ${hash}. It was deleted: run the same command again`,
    );
  }
  await rename(part, path);
  return hash;
}

function statedHash({ stated }: HubReply): string | undefined {
  for (const header of ["x-linked-etag", "etag"]) {
    const hash = hashPattern.exec(stated[header] ?? "")?.[1];
    if (hash !== undefined) return hash;
  }
  return undefined;
}

async function append(reply: HubReply, part: string, start: number, onBytes: (bytes: number) => void): Promise<void> {
  const { statusCode, headers, body } = reply;
  if (statusCode === 416) {
    // There is nothing behind the last byte: it is whole, or not what the hub has, which its hash will tell.
    await body.dump();
    return;
  }
  const from = /^bytes (\d+)-/.exec(headers["content-range"] ?? "")?.[1];
  const goesOn = statusCode === 206 && Number(from) === start;
  let bytes = goesOn ? start : 0;
  const file = await open(part, goesOn ? "a" : "w");
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      await file.writeFile(piece);
      onBytes((bytes += piece.length));
    }
    await file.sync();
  } finally {
    await file.close();
  }
  const length = headers["content-length"];
  if (length !== undefined && bytes - (goesOn ? start : 0) < Number(length)) throw new Error("the connection broke");
}

async function bytesIn(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** @param digits of the hash: 64 are SHA-256 of the content, 40 are that of Git, SHA-1 with the length before the content. */
export async function hashOf(path: string, digits: number): Promise<string> {
  const hash: Hash = digits === 64 ? createHash("sha256") : createHash("sha1").update(`blob ${await bytesIn(path)}\0`);
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest("hex");
}
