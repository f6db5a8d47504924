import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { LoadError, asError } from "../../core/errors.js";

/** A file of a commit. */
export interface GitFile {
  /** With `/`, relative to the folder that is read. */
  readonly path: string;
  /** Name of its content. */
  readonly blob: string;
  /** `NaN` if git has lost the content. */
  readonly sizeBytes: number;
}

/** The latest commit that changed a file. */
export interface LastChange {
  readonly commit: string;
  readonly author: string;
  /** ISO 8601, as its author's clock showed it. */
  readonly date: string;
}

/** Settings under which git runs no program that the repository names, and fetches nothing. */
const safely = ["--no-pager", "--no-optional-locks", "-c", "protocol.allow=never", "-c", "log.showSignature=false"];

/** A folder of a git repository at one commit, read by the git of the machine. */
export class GitRepository {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly commit: string;
  #contents: ContentReader | undefined;

  private constructor(folder: string, commit: string, signal: AbortSignal) {
    this.#folder = folder;
    this.commit = commit;
    this.#signal = signal;
  }

  /** @throws LoadError (`missing`) when there is no such repository or commit, (`unsupported`) without git. */
  static async open(folder: string, revision: string, uri: string, signal: AbortSignal): Promise<GitRepository> {
    const asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
    const found = await run(folder, asked, signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      const error = asError(cause);
      if ("code" in error && error.code === "ENOENT") {
        throw new LoadError("unsupported", uri, `${uri} is read with git, which cannot be started: install it`, {
          cause,
        });
      }
      const reason = error.message === "" ? `has no commit ${revision}` : `cannot be read by git (${error.message})`;
      throw new LoadError("missing", uri, `${folder} ${reason}`, { cause });
    });
    return new GitRepository(folder, found.trim(), signal);
  }

  /** Its files in order, without links and other repositories. */
  async files(): Promise<GitFile[]> {
    const listed = await run(this.#folder, ["ls-tree", "-r", "-l", "-z", this.commit], this.#signal);
    return listed.split("\0").flatMap((line) => {
      const [, blob, size, path] = /^100\d{3} blob (\w+) +(\S+)\t([^]*)$/.exec(line) ?? [];
      return path === undefined ? [] : [{ path, blob: blob!, sizeBytes: Number(size) }];
    });
  }

  /**
   * The latest change of each path: the history is read back until all are found.
   *
   * @param maxCommits commits to read back at most; what changed before them has no entry. Git takes some 20 s for the default.
   */
  async lastChanges(paths: readonly string[], maxCommits = 200_000): Promise<ReadonlyMap<string, LastChange>> {
    const changes = new Map<string, LastChange>();
    const wanted = new Set(paths);
    const shown = ["log", "-c", "--no-renames", "--no-ext-diff", "--name-only", "--relative", "-z"];
    const log = start(
      this.#folder,
      [...shown, `--max-count=${maxCommits}`, "--format=%x01%H%x02%aN%x02%aI%x02", this.commit, "--", "."],
      this.#signal,
    );
    const take = (entry: string) => {
      const [commit = "", author = "", date = "", names = ""] = entry.split("\u0002");
      for (const name of names.replace(/^[\0\n]+/, "").split("\0")) {
        if (wanted.delete(name)) changes.set(name, { commit, author, date });
      }
    };
    try {
      let rest = "";
      log.stdout.setEncoding("utf8");
      for await (const piece of log.stdout) {
        const entries = (rest + String(piece)).split("\u0001");
        rest = entries.pop()!;
        for (const entry of entries) take(entry);
        if (wanted.size === 0) break;
      }
      take(rest);
    } finally {
      log.kill();
    }
    return changes;
  }

  content({ blob }: GitFile): Promise<Buffer> {
    this.#contents ??= new ContentReader(start(this.#folder, ["cat-file", "--batch"], this.#signal));
    return this.#contents.read(blob);
  }

  close(): void {
    this.#contents?.close();
  }
}

/** Reads contents one after the other from one process. */
class ContentReader {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #pieces: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(process: ChildProcessWithoutNullStreams) {
    this.#process = process;
    this.#pieces = process.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    // The missing answer reveals that it ended.
    process.stdin.on("error", () => {});
  }

  async read(blob: string): Promise<Buffer> {
    this.#process.stdin.write(`${blob}\n`);
    let end = -1;
    while ((end = this.#held.indexOf(10)) < 0) await this.#more();
    const head = this.#held.toString("latin1", 0, end);
    const size = Number(/^\w+ blob (\d+)$/.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(size)) throw new Error(`git says ${head}`);
    const pieces = [this.#held.subarray(end + 1)];
    let length = pieces[0]!.length;
    while (length < size + 1) {
      this.#held = Buffer.alloc(0);
      await this.#more();
      pieces.push(this.#held);
      length += this.#held.length;
    }
    const all = Buffer.concat(pieces);
    this.#held = all.subarray(size + 1);
    return all.subarray(0, size);
  }

  close(): void {
    this.#process.kill();
  }

  async #more(): Promise<void> {
    const next = await this.#pieces.next();
    if (next.done) throw new Error("git ended before it gave the content");
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
  }
}

function start(folder: string, args: readonly string[], signal: AbortSignal): ChildProcessWithoutNullStreams {
  const process = spawn("git", ["-C", folder, ...safely, ...args], { signal });
  // An abort emits an error, too.
  process.on("error", () => {});
  return process;
}

/** All that git prints. */
async function run(folder: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  const git = start(folder, args, signal);
  const ended = new Promise<number | null>((resolve, reject) => {
    git.on("error", reject);
    git.on("close", resolve);
  });
  const text = async (stream: NodeJS.ReadableStream) => {
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces).toString();
  };
  const [code, output, problem] = await Promise.all([ended, text(git.stdout), text(git.stderr)]);
  if (code !== 0) throw new Error(problem.trim().split("\n").at(-1));
  return output;
}
