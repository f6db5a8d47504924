import { resolve } from "node:path";
import { z } from "zod";
import { videoModels } from "../contract/catalogue.js";
import type { VideoRequest } from "../contract/video.js";
import type { VideoContentItem } from "../contract/video-content.js";
import { OptionsError, type Submission, TransportError } from "../errors.js";
import { type MediaSource, lastFrameAsFirstFrame, videoContent } from "../models/video-content.js";
import type { Transport } from "../transport/transport.js";
import type { VideoTask } from "../transport/video-task.js";
import { connectUpstream } from "../upstream.js";
import { configuredTransport, type World } from "./command-context.js";
import { readConfiguration } from "./configuration.js";
import { exitCodes } from "./failure.js";
import { oneLine, safeForTerminal } from "./terminal-text.js";

export interface VideoFlags {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly config?: string;
  readonly json?: boolean;
}

export interface WaitVideoFlags extends VideoFlags {
  readonly output?: string;
  readonly lastFrameOutput?: string;
  readonly deadlineSeconds?: number;
  readonly pollSeconds?: number;
}

export interface CreateVideoFlags extends WaitVideoFlags {
  readonly prompt?: string;
  readonly model?: string;
  readonly firstFrame?: string;
  readonly lastFrame?: string;
  readonly continue?: string;
  readonly referenceImage?: readonly string[];
  readonly referenceVideo?: readonly string[];
  readonly referenceAudio?: readonly string[];
  readonly ratio?: VideoRequest["ratio"];
  readonly resolution?: VideoRequest["resolution"];
  readonly duration?: number;
  readonly seed?: number;
  readonly silent?: boolean;
  readonly watermark?: boolean;
  readonly webSearch?: boolean;
  readonly returnLastFrame?: boolean;
  readonly expiresAfter?: number;
  readonly callbackUrl?: string;
  readonly wait?: boolean;
}

export async function createVideoCommand(world: World, flags: CreateVideoFlags): Promise<number> {
  const wait = flags.wait === true || flags.output !== undefined || flags.lastFrameOutput !== undefined;
  return withService(world, flags, wait, async (transport) => {
    const request = await requestOf(world, flags, transport);
    const { id } = await created(world, transport, request);
    if (wait) {
      // Said before anything can stop the wait: the task costs, and its id is the way back to it.
      world.stderr.write(`Task ${id}\n`);
      return waitAndSave(world, transport, id, flags);
    }
    const next = `It goes on at the service. Wait for it with: citewell video wait ${id} --output video.mp4`;
    world.stdout.write(flags.json ? `${JSON.stringify({ id })}\n` : `Task ${id}\n${next}\n`);
    return exitCodes.done;
  });
}

export async function getVideoCommand(world: World, id: string, flags: VideoFlags): Promise<number> {
  return withService(world, flags, false, async (transport) => {
    show(world, await transport.videoTask(id, { signal: world.signal }), flags, []);
    return exitCodes.done;
  });
}

export async function waitVideoCommand(world: World, id: string, flags: WaitVideoFlags): Promise<number> {
  return withService(world, flags, false, (transport) => waitAndSave(world, transport, id, flags));
}

/** Looks for the task of a creation whose answer was lost; nothing is created. */
export async function findVideoCommand(world: World, written: string, flags: VideoFlags): Promise<number> {
  const submission = submissionOf(written);
  return withService(world, flags, false, async (transport) => {
    const found = await transport.reconcileVideo(submission, { signal: world.signal });
    const tasks = found.outcome === "found" ? [found.task] : found.outcome === "ambiguous" ? found.candidates : [];
    if (flags.json) {
      const told = tasks.map(toldOf);
      const later = found.outcome === "none" ? { mayStillAppear: found.mayStillAppear } : {};
      world.stdout.write(`${JSON.stringify({ outcome: found.outcome, tasks: told, ...later })}\n`);
    } else if (found.outcome === "none") {
      const advice = found.mayStillAppear
        ? "It may still appear: ask again in a few minutes."
        : "It is safe to create it.";
      world.stdout.write(`No such task. ${advice}\n`);
    } else {
      if (tasks.length > 1) world.stdout.write("Several tasks may be the one, the closest in time first:\n");
      for (const task of tasks) show(world, task, flags, []);
    }
    return found.outcome === "found" ? exitCodes.done : exitCodes.failures;
  });
}

/** A creation that may have happened says how to look for it: to create it again may cost twice. */
async function created(world: World, transport: Transport, request: VideoRequest): Promise<{ readonly id: string }> {
  try {
    return await transport.createVideoTask(request, { signal: world.signal });
  } catch (error) {
    if (error instanceof TransportError && error.submission) {
      const quoted = JSON.stringify(error.submission).replaceAll("'", String.raw`'\''`);
      world.stderr.write(`Look for the task with: citewell video find '${safeForTerminal(quoted)}'\n`);
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
    const message = "That is no submission: give the JSON that citewell video create printed when its answer was lost";
    throw new OptionsError("options", message, { cause });
  }
}

async function requestOf(world: World, flags: CreateVideoFlags, transport: Transport): Promise<VideoRequest> {
  const source = (text: string): MediaSource => sourceOf(text, world.directory);
  const content: VideoContentItem[] = [];
  if (flags.prompt !== undefined) content.push(videoContent.text(flags.prompt));
  if (flags.continue !== undefined) {
    content.push(lastFrameAsFirstFrame(await transport.videoTask(flags.continue, { signal: world.signal })));
  }
  if (flags.firstFrame !== undefined) content.push(await videoContent.firstFrame(source(flags.firstFrame)));
  if (flags.lastFrame !== undefined) content.push(await videoContent.lastFrame(source(flags.lastFrame)));
  for (const text of flags.referenceImage ?? []) content.push(await videoContent.referenceImage(source(text)));
  for (const text of flags.referenceVideo ?? [])
    content.push(videoContent.referenceVideo(source(text) as { url: string }));
  for (const text of flags.referenceAudio ?? []) content.push(await videoContent.referenceAudio(source(text)));
  if (content.length === 0) {
    throw new OptionsError(
      "options",
      "Nothing to make a video from: give --prompt, --first-frame or --reference-image",
    );
  }
  const { ratio, resolution, duration, seed } = flags;
  return {
    model: flags.model ?? videoModels[0]!.id,
    content,
    ...(ratio !== undefined && { ratio }),
    ...(resolution !== undefined && { resolution }),
    ...(duration !== undefined && { duration }),
    ...(seed !== undefined && { seed }),
    ...(flags.silent && { generate_audio: false }),
    ...(flags.watermark && { watermark: true }),
    ...(flags.webSearch && { tools: [{ type: "web_search" as const }] }),
    ...((flags.returnLastFrame || flags.lastFrameOutput !== undefined) && { return_last_frame: true }),
    ...(flags.expiresAfter !== undefined && { execution_expires_after: flags.expiresAfter }),
    ...(flags.callbackUrl !== undefined && { callback_url: flags.callbackUrl }),
  };
}

function sourceOf(text: string, directory: string): MediaSource {
  if (/^https?:\/\//.test(text)) return { url: text };
  return text.startsWith("asset://") ? { asset: text } : { file: resolve(directory, text) };
}

async function waitAndSave(world: World, transport: Transport, id: string, flags: WaitVideoFlags): Promise<number> {
  const { signal, directory, stderr } = world;
  const { deadlineSeconds, pollSeconds } = flags;
  let told = "";
  let task: VideoTask;
  try {
    task = await transport.waitForVideo(id, {
      signal,
      ...(deadlineSeconds !== undefined && { deadlineMs: deadlineSeconds * 1000 }),
      ...(pollSeconds !== undefined && {
        poll: { firstMs: pollSeconds * 1000, maxMs: Math.max(30, pollSeconds) * 1000 },
      }),
      onProgress: ({ task: seen, error }) => {
        const line = error ? `citewell: ${oneLine(error.message, 200)}; asking again` : (seen?.status ?? "");
        if (line !== told) stderr.write(`${line}\n`);
        told = line;
      },
    });
  } catch (error) {
    if (signal.aborted) stderr.write(`Task ${id} goes on at the service: citewell video wait ${id}\n`);
    throw error;
  }
  const saved: string[] = [];
  for (const [path, part] of [
    [flags.output, "video"],
    [flags.lastFrameOutput, "last-frame"],
  ] as const) {
    if (path === undefined) continue;
    await transport.downloadVideo(task, resolve(directory, path), { part, signal });
    saved.push(path);
  }
  show(world, task, flags, saved);
  return exitCodes.done;
}

/** What the library made of a task, without the reply as it came. */
function toldOf(task: VideoTask): Omit<VideoTask, "raw"> {
  const { raw: _, ...told } = task;
  return told;
}

function show({ stdout }: World, task: VideoTask, { json }: VideoFlags, saved: readonly string[]): void {
  const told = toldOf(task);
  if (json) {
    stdout.write(`${JSON.stringify({ ...told, ...(saved.length > 0 && { saved }) })}\n`);
    return;
  }
  const facts = [
    task.resolution,
    task.ratio,
    task.durationSeconds === undefined ? undefined : `${task.durationSeconds} s`,
  ];
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

/** The service that flags, variables and configuration name; one that lives in this process only for what ends in it. */
async function withService(
  world: World,
  { baseUrl, apiKey, config }: VideoFlags,
  endsHere: boolean,
  use: (transport: Transport) => Promise<number>,
): Promise<number> {
  const settings = readConfiguration({
    flags: { config, baseUrl, apiKey },
    environment: world.environment,
    directory: world.directory,
  });
  if (settings.baseUrl === undefined && !endsHere) {
    throw new OptionsError(
      "config",
      "No service is configured, and a task of the built-in one ends with this command. Set CITEWELL_BASE_URL (citewell local starts a service to try with), or create with --wait",
    );
  }
  const given = configuredTransport(settings, world.environment);
  const upstream = await connectUpstream(given, {});
  try {
    return await use(upstream.transport);
  } finally {
    await upstream.close();
    await given?.close();
  }
}
