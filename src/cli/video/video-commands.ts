import { resolve } from "node:path";
import { z } from "zod";
import { videoModels } from "../../contract/catalogue.js";
import type { VideoRequest } from "../../contract/video.js";
import type { VideoContentItem } from "../../contract/video-content.js";
import { OptionsError, type Submission, TransportError } from "../../core/errors.js";
import { type MediaSource, lastFrameAsFirstFrame, videoContent } from "../../models/video-content.js";
import type { Transport } from "../../transport/transport.js";
import type { VideoTask } from "../../transport/video/task.js";
import { connectTransport } from "../../knowledge-base/connect-models.js";
import {
  configuredTransport,
  explainStop,
  print,
  readSettings,
  type CommandIo,
  type StoreFlags,
} from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { oneLine, safeForTerminal } from "../output/terminal-text.js";
import { given } from "../../core/given.js";

export type VideoFlags = Pick<StoreFlags, "service" | "baseUrl" | "apiKey" | "config" | "json">;

export interface WaitVideoFlags extends VideoFlags {
  readonly output?: string;
  readonly lastFrameOutput?: string;
  readonly deadlineSeconds?: number;
  readonly pollSeconds?: number;
}

export interface CreateVideoFlags
  extends WaitVideoFlags, Pick<VideoRequest, "ratio" | "resolution" | "duration" | "seed"> {
  readonly prompt?: string;
  readonly model?: string;
  readonly firstFrame?: string;
  readonly lastFrame?: string;
  readonly continue?: string;
  readonly referenceImage?: readonly string[];
  readonly referenceVideo?: readonly string[];
  readonly referenceAudio?: readonly string[];
  readonly silent?: boolean;
  readonly watermark?: boolean;
  readonly webSearch?: boolean;
  readonly returnLastFrame?: boolean;
  readonly expiresAfter?: number;
  readonly callbackUrl?: string;
  readonly wait?: boolean;
}

export async function createVideoCommand(io: CommandIo, flags: CreateVideoFlags): Promise<number> {
  const wait = flags.wait === true || flags.output !== undefined || flags.lastFrameOutput !== undefined;
  return withService(io, flags, wait, async (transport) => {
    const request = await requestOf(io, flags, transport);
    const { id } = await created(io, transport, request);
    if (wait) {
      // Printed before anything can stop the wait: the task costs money, and only its id leads back to it.
      io.stderr.write(`Task ${id}\n`);
      return waitAndSave(io, transport, id, flags);
    }
    const next = `The service works on it. To wait for it: citewell video wait ${id} --output video.mp4`;
    print(io, flags, { id }, `Task ${id}\n${next}\n`);
    return exitCodes.done;
  });
}

export async function getVideoCommand(io: CommandIo, id: string, flags: VideoFlags): Promise<number> {
  return withService(io, flags, false, async (transport) => {
    show(io, await transport.videoTask(id, { signal: io.signal }), flags, []);
    return exitCodes.done;
  });
}

export async function waitVideoCommand(io: CommandIo, id: string, flags: WaitVideoFlags): Promise<number> {
  return withService(io, flags, false, (transport) => waitAndSave(io, transport, id, flags));
}

/** Finds the task of a creation whose reply was lost, without creating anything. */
export async function findVideoCommand(io: CommandIo, written: string, flags: VideoFlags): Promise<number> {
  const submission = submissionOf(written);
  return withService(io, flags, false, async (transport) => {
    const found = await transport.reconcileVideo(submission, { signal: io.signal });
    const tasks = found.outcome === "found" ? [found.task] : found.outcome === "ambiguous" ? found.candidates : [];
    if (flags.json) {
      const later = found.outcome === "none" ? { mayStillAppear: found.mayStillAppear } : {};
      io.stdout.write(`${JSON.stringify({ outcome: found.outcome, tasks: tasks.map(withoutRaw), ...later })}\n`);
    } else if (found.outcome === "none") {
      const advice = found.mayStillAppear
        ? "It may still appear: ask again in a few minutes."
        : "It is safe to create it.";
      io.stdout.write(`No such task. ${advice}\n`);
    } else {
      if (tasks.length > 1) io.stdout.write("Several tasks match, the closest in time first:\n");
      for (const task of tasks) show(io, task, flags, []);
    }
    return found.outcome === "found" ? exitCodes.done : exitCodes.failures;
  });
}

/** A creation that may have succeeded prints how to look for its task: creating it again could cost twice. */
async function created(io: CommandIo, transport: Transport, request: VideoRequest): Promise<{ readonly id: string }> {
  try {
    return await transport.createVideoTask(request, { signal: io.signal });
  } catch (error) {
    if (error instanceof TransportError && error.submission) {
      const quoted = JSON.stringify(error.submission).replaceAll("'", String.raw`'\''`);
      io.stderr.write(`Look for the task with: citewell video find '${safeForTerminal(quoted)}'\n`);
    }
    throw error;
  }
}

const WrittenSubmission = z.object({
  model: z.string().min(1),
  fingerprint: z.string(),
  settings: z.record(z.string(), z.unknown()),
  notBefore: z.coerce.date(),
  notAfter: z.coerce.date(),
});

function submissionOf(written: string): Submission {
  try {
    return WrittenSubmission.parse(JSON.parse(written));
  } catch (cause) {
    const message =
      "This is not a submission: give the JSON that citewell video create printed when its reply was lost";
    throw new OptionsError("options", message, { cause });
  }
}

async function requestOf(io: CommandIo, flags: CreateVideoFlags, transport: Transport): Promise<VideoRequest> {
  const source = (text: string): MediaSource => sourceOf(text, io.directory);
  const content: VideoContentItem[] = [];
  if (flags.prompt !== undefined) content.push(videoContent.text(flags.prompt));
  if (flags.continue !== undefined) {
    content.push(lastFrameAsFirstFrame(await transport.videoTask(flags.continue, { signal: io.signal })));
  }
  if (flags.firstFrame !== undefined) content.push(await videoContent.firstFrame(source(flags.firstFrame)));
  if (flags.lastFrame !== undefined) content.push(await videoContent.lastFrame(source(flags.lastFrame)));
  for (const text of flags.referenceImage ?? []) content.push(await videoContent.referenceImage(source(text)));
  for (const text of flags.referenceVideo ?? []) {
    content.push(videoContent.referenceVideo(source(text) as { url: string }));
  }
  for (const text of flags.referenceAudio ?? []) content.push(await videoContent.referenceAudio(source(text)));
  if (content.length === 0) {
    const hint = "give --prompt, --first-frame or --reference-image";
    throw new OptionsError("options", `There is nothing to make a video from: ${hint}`);
  }
  const { ratio, resolution, duration, seed } = flags;
  return {
    model: flags.model ?? videoModels[0]!.id,
    content,
    ...given({ ratio, resolution, duration, seed }),
    ...given({ execution_expires_after: flags.expiresAfter, callback_url: flags.callbackUrl }),
    ...(flags.silent && { generate_audio: false }),
    ...(flags.watermark && { watermark: true }),
    ...(flags.webSearch && { tools: [{ type: "web_search" as const }] }),
    ...((flags.returnLastFrame || flags.lastFrameOutput !== undefined) && { return_last_frame: true }),
  };
}

function sourceOf(text: string, directory: string): MediaSource {
  if (/^https?:\/\//.test(text)) return { url: text };
  return text.startsWith("asset://") ? { asset: text } : { file: resolve(directory, text) };
}

async function waitAndSave(io: CommandIo, transport: Transport, id: string, flags: WaitVideoFlags): Promise<number> {
  const { signal, directory, notes } = io;
  const { deadlineSeconds, pollSeconds } = flags;
  let printed = "";
  const waiting = transport.waitForVideo(id, {
    signal,
    ...given({ deadlineMs: deadlineSeconds && deadlineSeconds * 1000 }),
    ...(pollSeconds && { poll: { firstMs: pollSeconds * 1000, maxMs: Math.max(30, pollSeconds) * 1000 } }),
    onProgress: ({ task: seen, error }) => {
      const line = error ? `citewell: ${oneLine(error.message, 200)}; asking again` : (seen?.status ?? "");
      if (line !== printed) notes.write(`${line}\n`);
      printed = line;
    },
  });
  const stopped = `The service goes on with the task. To wait again: citewell video wait ${id}\n`;
  const task = await explainStop(io, stopped, waiting);
  const saved: string[] = [];
  for (const [path, part] of [
    [flags.output, "video"],
    [flags.lastFrameOutput, "last-frame"],
  ] as const) {
    if (path === undefined) continue;
    await transport.downloadVideo(task, resolve(directory, path), { part, signal });
    saved.push(path);
  }
  show(io, task, flags, saved);
  return exitCodes.done;
}

/** A task without the service's own reply. */
function withoutRaw(task: VideoTask): Omit<VideoTask, "raw"> {
  const { raw: _, ...fields } = task;
  return fields;
}

function show({ stdout }: CommandIo, task: VideoTask, { json }: VideoFlags, saved: readonly string[]): void {
  if (json) {
    stdout.write(`${JSON.stringify({ ...withoutRaw(task), ...(saved.length > 0 && { saved }) })}\n`);
    return;
  }
  const { resolution, ratio, durationSeconds } = task;
  const facts = [resolution, ratio, durationSeconds && `${durationSeconds} s`];
  const known = facts.filter((fact) => fact !== undefined).join(", ");
  const expiry = task.linksExpireAt ? `  (until ${task.linksExpireAt.toISOString()})` : "";
  const lines = [
    `Task ${task.id}  ${task.status}${known === "" ? "" : `  ${known}`}`,
    ...(task.error ? [`Error  ${[task.error.code, task.error.message].filter(Boolean).join(": ")}`] : []),
    ...saved.map((path) => `Saved ${path}`),
    ...(saved.length === 0 && task.videoUrl !== undefined ? [`Video ${task.videoUrl}${expiry}`] : []),
    ...(saved.length === 0 && task.lastFrameUrl !== undefined ? [`Last frame ${task.lastFrameUrl}`] : []),
  ];
  stdout.write(`${lines.map(safeForTerminal).join("\n")}\n`);
}

/**
 * Connects to the service that the settings name.
 *
 * @param waits Whether the command waits for its task, so that the built-in service will do where none is named.
 */
async function withService(
  io: CommandIo,
  flags: VideoFlags,
  waits: boolean,
  use: (transport: Transport) => Promise<number>,
): Promise<number> {
  const settings = readSettings(io, flags);
  if (settings.baseUrl === undefined && !waits) {
    throw new OptionsError(
      "config",
      "No service is configured, and a task of the built-in one ends with this command. Set CITEWELL_BASE_URL (citewell local starts a service to try with), or create with --wait",
    );
  }
  const configured = configuredTransport(io, settings);
  const connected = await connectTransport(configured);
  try {
    return await use(connected.transport);
  } finally {
    await connected.close();
    await configured?.close();
  }
}
