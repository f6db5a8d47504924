import type { Command } from "commander";
import type { CommandIo } from "../command-context.js";
import { exitCodes } from "../output/failure.js";

export type Shell = "bash" | "zsh" | "fish";

/** Prints a script that completes the program's commands, options, choices and paths, from its own table of commands. */
export async function completionCommand(io: CommandIo, program: Command, shell: Shell): Promise<number> {
  const commands = commandsBelow(program, "");
  io.stdout.write({ bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program.name(), commands));
  return exitCodes.done;
}

/** A word that can be typed, and what it does. */
interface Word {
  readonly word: string;
  readonly about: string;
}

/** Completions for one place: some words, or the path of a file. */
interface Values {
  readonly words: readonly string[];
  readonly isPath: boolean;
}

interface OptionWords {
  /** `-V`, `--version`. */
  readonly names: readonly string[];
  readonly about: string;
  /** Possible values; absent when it takes none. */
  readonly values?: Values;
}

/** Completions that can follow a command. */
interface CommandWords {
  /** The command's own words, such as `video create`; none for the program. */
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly options: readonly OptionWords[];
  /** Values of its last argument. */
  readonly values: Values;
}

function commandsBelow(command: Command, path: string): readonly CommandWords[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const argument = command.registeredArguments.at(-1);
  const own: CommandWords = {
    path,
    subcommands: subcommands.map((subcommand) => ({ word: subcommand.name(), about: subcommand.description() })),
    options: [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].map((option) => ({
      names: [option.short, option.long].filter((name) => name !== undefined),
      about: option.description,
      ...((option.required || option.optional) && { values: valuesOf(option.flags, option.argChoices) }),
    })),
    values: argument ? valuesOf(argument.name(), argument.argChoices) : { words: [], isPath: false },
  };
  return [
    own,
    ...subcommands.flatMap((currentSubcommand) =>
      commandsBelow(currentSubcommand, `${path} ${currentSubcommand.name()}`.trim()),
    ),
  ];
}

/** @param shown how help shows it: `--store <folder>`. */
function valuesOf(shown: string, choices: readonly string[] = []): Values {
  return { words: choices, isPath: /\b(?:file|folder|path|place|source)\b/.test(shown.replace(/^\S*--\S+/, "")) };
}

function bashScript(name: string, commands: readonly CommandWords[]): string {
  const words = (all: readonly string[]) => `COMPREPLY=($(compgen -W '${all.join(" ")}' -- "$word"))`;
  const paths = "local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\"))";
  const reply = (values: Values) => (values.isPath ? paths : words(values.words));
  const cases = commands.map(({ path, subcommands, options, values }) => {
    const valued = options.flatMap(({ names, values: taken }) =>
      taken ? [`${names.join("|")}) ${reply(taken)}; return ;;`] : [],
    );
    return `  "${path}")
    case "$before" in
      ${[...valued, "*) ;;"].join("\n      ")}
    esac
    case "$word" in
      -*) ${words(options.flatMap(({ names }) => names))} ;;
      *) ${subcommands.length > 0 ? words(subcommands.map(({ word }) => word)) : reply(values)} ;;
    esac ;;`;
  });
  return `# Completion of ${name} in bash: source <(${name} completion bash)
_${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="" at
  # Bash takes --option=value apart.
  if [ "$word" = "=" ]; then word=""; elif [ "$before" = "=" ]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${path:+$path }\${COMP_WORDS[at]}" in
      ${pathPattern(commands)}) path="\${path:+$path }\${COMP_WORDS[at]}" ;;
    esac
  done
  COMPREPLY=()
  case "$path" in
${cases.join("\n")}
  esac
}
complete -F _${name} ${name}
`;
}

function zshScript(name: string, commands: readonly CommandWords[]): string {
  const describe = (words: readonly Word[]) => words.map(({ word, about }) => quoted(`${word}:${about}`)).join(" ");
  const reply = ({ words, isPath }: Values) =>
    isPath ? "_files" : words.length > 0 ? `compadd -- ${words.join(" ")}` : ":";
  const cases = commands.map(({ path, subcommands, options, values }) => {
    const valued = options.flatMap(({ names, values: taken }) =>
      taken ? [`${names.join("|")}) ${reply(taken)}; return ;;`] : [],
    );
    const flags = options.flatMap(({ names, about }) => names.map((word) => ({ word, about })));
    return `    "${path}")
      case "$before" in
        ${valued.join("\n        ")}
      esac
      if [[ "$word" == -* ]]; then
        found=(${describe(flags)}); _describe option found
      else
        ${subcommands.length > 0 ? `found=(${describe(subcommands)}); _describe command found` : reply(values)}
      fi ;;`;
  });
  return `#compdef ${name}
# Completion of ${name} in zsh: source <(${name} completion zsh), after compinit
_${name}() {
  local word="\${words[CURRENT]}" before="\${words[CURRENT-1]}" place="" at
  local -a found
  if [[ "$word" == --*=* ]]; then before="\${word%%=*}"; compset -P '*='; fi
  for ((at = 2; at < CURRENT; at++)); do
    case "\${place:+$place }\${words[at]}" in
      (${pathPattern(commands)}) place="\${place:+$place }\${words[at]}" ;;
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function fishScript(name: string, commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, subcommands, options, values }) => {
    const prefix = `complete -c ${name} -n ${quoted(`__${name}_at "${path}"`)}`;
    const reply = ({ words, isPath }: Values) =>
      isPath ? "-rF" : words.length > 0 ? `-xa ${quoted(words.join(" "))}` : "-x";
    return [
      ...subcommands.map(({ word, about }) => `${prefix} -a ${word} -d ${quoted(about)}`),
      ...options.map(({ names, about, values: taken }) => {
        const flags = names.map((currentName) =>
          currentName.startsWith("--") ? `-l ${currentName.slice(2)}` : `-s ${currentName.slice(1)}`,
        );
        return [prefix, ...flags, ...(taken ? [reply(taken)] : []), "-d", quoted(about)].join(" ");
      }),
      ...(values.isPath ? [`${prefix} -F`] : values.words.map((word) => `${prefix} -a ${word}`)),
    ];
  });
  return `# Completion of ${name} in fish: ${name} completion fish | source
function __${name}_at
  set -l path
  for word in (commandline -opc)[2..]
    if contains -- (string join ' ' -- $path $word) ${commands
      .slice(1)
      .map(({ path }) => quoted(path))
      .join(" ")}
      set -a path $word
    end
  end
  test "$path" = $argv[1]
end
complete -c ${name} -f
${lines.join("\n")}
`;
}

function pathPattern(commands: readonly CommandWords[]): string {
  return commands
    .slice(1)
    .map(({ path }) => `"${path}"`)
    .join("|");
}

/** In single quotes, as all three shells read them, except for what fish does to a backslash, which no text here has. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
