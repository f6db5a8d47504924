import { type Command, Option } from "commander";
import type { World } from "./command-context.js";
import { between, positive } from "./number-option.js";

/** Adds `citewell video` with its commands. */
export function addVideoCommands(program: Command, world: World, exit: (code: number) => void): void {
  const video = program
    .command("video")
    .description("make videos from text, images, videos and audio")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell video create --prompt "A cat yawns" --output cat.mp4
  $ citewell video create --first-frame cat.png --prompt "It jumps" --duration 8 --json
  $ citewell video wait cgt-20260101-abcde --output cat.mp4

A task goes on at the service when a command ends: wait for it again by its id.`,
    );

  withService(waiting(video.command("create")))
    .description("start a video; prints the task's id")
    .option("--prompt <text>", "what the video shows")
    .option("--model <id>", "default: vendor/vendor-video-2.0")
    .option("--first-frame <source>", "image to begin with: a file, an address or asset://id")
    .option("--last-frame <source>", "image to end with; needs --first-frame")
    .option("--continue <task>", "begin with the last frame of this task, made with --return-last-frame")
    .option("--reference-image <source...>", "up to 9; the prompt may name them [image 1], [image 2] …")
    .option("--reference-video <source...>", "up to 3 addresses or assets, 15 s together")
    .option("--reference-audio <source...>", "up to 3, 15 s together; needs a reference image or video")
    .addOption(
      new Option("--ratio <ratio>", "default: adaptive").choices([
        "16:9",
        "4:3",
        "1:1",
        "3:4",
        "9:16",
        "21:9",
        "adaptive",
      ]),
    )
    .addOption(new Option("--resolution <lines>", "default: 720p").choices(["480p", "720p", "1080p"]))
    .option("--duration <seconds>", "4 to 15, or -1 to let the model choose (default: 5)", between(-1, 15))
    .option("--seed <number>", "default: random", between(-1, 2 ** 32 - 1))
    .option("--silent", "without sound")
    .option("--watermark", "with a watermark")
    .option("--web-search", "let the model search the web")
    .option("--return-last-frame", "keep the last frame, for --last-frame-output or --continue")
    .option(
      "--expires-after <seconds>",
      "end the task unfinished after this time (default: 172800)",
      between(3600, 259_200),
    )
    .option("--callback-url <url>", "hears of every change of status")
    .option("--wait", "wait until it is finished; --output does so too")
    .addHelpText(
      "after",
      `
Examples:
  $ citewell video create --prompt "Waves at dusk" --ratio 16:9 --duration 8 --output waves.mp4
  $ citewell video create --first-frame a.png --last-frame b.png --output morph.mp4
  $ citewell video create --reference-image cat.png hat.png --prompt "[image 1] wears [image 2]" --wait
  $ citewell video create --continue cgt-20260101-abcde --prompt "It runs on" --output next.mp4`,
    )
    .action(async (flags) => {
      const { createVideoCommand } = await import("./video-command.js");
      exit(await createVideoCommand(world, flags));
    });

  withService(video.command("find"))
    .description("look for the task of a creation whose answer was lost; creates nothing")
    .argument("<submission>", "the JSON that citewell video create printed then")
    .action(async (submission: string, flags) => {
      const { findVideoCommand } = await import("./video-command.js");
      exit(await findVideoCommand(world, submission, flags));
    });

  withService(video.command("get"))
    .description("show a task as it is now")
    .argument("<id>", "of the task")
    .addHelpText("after", "\nExample:\n  $ citewell video get cgt-20260101-abcde --json | jq -r .status")
    .action(async (id: string, flags) => {
      const { getVideoCommand } = await import("./video-command.js");
      exit(await getVideoCommand(world, id, flags));
    });

  withService(waiting(video.command("wait")))
    .description("wait until a task is finished, whoever started it")
    .argument("<id>", "of the task")
    .addHelpText("after", "\nExample:\n  $ citewell video wait cgt-20260101-abcde --output cat.mp4")
    .action(async (id: string, flags) => {
      const { waitVideoCommand } = await import("./video-command.js");
      exit(await waitVideoCommand(world, id, flags));
    });
}

function waiting(command: Command): Command {
  return command
    .option("--output <file>", "save the video here; an interrupted download goes on")
    .option("--last-frame-output <file>", "save the last frame here, a PNG")
    .option("--deadline-seconds <count>", "longest wait (default: 1800)", positive)
    .option("--poll-seconds <count>", "first wait between two queries (default: 10)", positive);
}

function withService(command: Command): Command {
  return command
    .option("--json", "print one JSON object")
    .option("--base-url <url>", "inference service (CITEWELL_BASE_URL)")
    .option("--api-key <key>", "its key; safer in CITEWELL_API_KEY")
    .option("--config <file>", "settings file (default: ./citewell.config.json)");
}
