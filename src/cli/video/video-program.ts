import { Option } from "commander";
import type { CliCommand } from "../cli-command.js";
import { between, positive } from "../settings/flag-values.js";

const ratios = ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"];

/** Adds `citewell video` with its commands. */
export function addVideoCommands(program: CliCommand): void {
  const video = program.command("video").description("make videos from text, images, videos and audio").examples(`
  $ citewell video create --prompt "A cat yawns" --output cat.mp4
  $ citewell video create --first-frame cat.png --prompt "It jumps" --duration 8 --json
  $ citewell video wait cgt-20260101-abcde --output cat.mp4

The service goes on with a task when a command ends. To wait for it again, use its id.`);

  withWait(video.command("create").takesService())
    .description("start a video and print the id of its task")
    .option("--prompt <text>", "description of the video")
    .option("--model <id>", "video model (default: vendor/vendor-video-2.0)")
    .option("--first-frame <source>", "first frame: a file, a web address or asset://id")
    .option("--last-frame <source>", "last frame; needs --first-frame")
    .option("--continue <task>", "start from the last frame of this task, which was created with --return-last-frame")
    .option("--reference-image <source...>", "up to 9 images; the prompt may name them [image 1], [image 2] …")
    .option("--reference-video <source...>", "up to 3 web addresses or assets, 15 s in total")
    .option("--reference-audio <source...>", "up to 3 sounds, 15 s in total; needs a reference image or video")
    .addOption(new Option("--ratio <ratio>", "aspect ratio (default: adaptive)").choices(ratios))
    .addOption(new Option("--resolution <lines>", "resolution (default: 720p)").choices(["480p", "720p", "1080p"]))
    .option("--duration <seconds>", "length, 4 to 15, or -1 to let the model choose (default: 5)", between(-1, 15))
    .option("--seed <number>", "seed of the video (default: random)", between(-1, 2 ** 32 - 1))
    .option("--silent", "without sound")
    .option("--watermark", "add a watermark")
    .option("--web-search", "let the model search the web")
    .option("--return-last-frame", "keep the last frame, for --last-frame-output or --continue")
    .option("--expires-after <seconds>", "end the task if unfinished by then (default: 172800)", between(3600, 259_200))
    .option("--callback-url <url>", "address that is called with every change of status")
    .option("--wait", "wait until the video is finished; --output implies it")
    .examples(`
  $ citewell video create --prompt "Waves at dusk" --ratio 16:9 --duration 8 --output waves.mp4
  $ citewell video create --first-frame a.png --last-frame b.png --output morph.mp4
  $ citewell video create --reference-image cat.png hat.png --prompt "[image 1] wears [image 2]" --wait
  $ citewell video create --continue cgt-20260101-abcde --prompt "It runs on" --output next.mp4`)
    .runs(async () => (await import("./video-commands.js")).createVideoCommand);

  video
    .command("find")
    .takesService()
    .description("look for the task of a creation whose reply was lost, without creating anything")
    .argument("<submission>", "the JSON that citewell video create printed")
    .runs(async () => (await import("./video-commands.js")).findVideoCommand);

  video
    .command("get")
    .takesService()
    .description("show the current state of a task")
    .argument("<id>", "id of the task")
    .examples(`
  $ citewell video get cgt-20260101-abcde --json | jq -r .status`)
    .runs(async () => (await import("./video-commands.js")).getVideoCommand);

  withWait(video.command("wait").takesService())
    .description("wait until a task is finished, whichever process started it")
    .argument("<id>", "id of the task")
    .examples(`
  $ citewell video wait cgt-20260101-abcde --output cat.mp4`)
    .runs(async () => (await import("./video-commands.js")).waitVideoCommand);
}

function withWait(command: CliCommand): CliCommand {
  return command
    .option("--output <file>", "save the video here; an interrupted download is resumed")
    .option("--last-frame-output <file>", "save the last frame here, a PNG")
    .option("--deadline-seconds <count>", "maximum time to wait (default: 1800)", positive)
    .option("--poll-seconds <count>", "first interval between two queries (default: 10)", positive);
}
