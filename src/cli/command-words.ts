/** What messages of the library call their options, and what the command calls them. */
const words: readonly (readonly [RegExp, string])[] = [
  [
    /^There is no folder at ([^*?]+)$/,
    "There is no file or folder at $1. If it is gone for good, citewell remove takes out what was indexed of it",
  ],
  [/^There is no folder at /, "There is no file or folder at "],
  [
    /a pattern goes into include, the folder alone into the path/,
    "a pattern goes into --include, the folder alone into the path",
  ],
  [
    /is a folder: read it with readFolder/,
    "is a folder: name one of its files, or see what the folder comes to with citewell plan",
  ],
  [/^readFolder: include /, "--include "],
  [/(pass it over|name it) with (exclude|include)\b/, "$1 with --$2"],
  [/give its whole name to include\b/, "give its whole name to --include"],
  [/\bset allowPrivate if you mean it/, "give --allow-private if you mean it"],
  [/,? (?:and|which is) maxFileBytes(?: is \d+)?/, ", more than --max-file-bytes allows"],
  [/\braise timeoutMs\b/, "raise --file-timeout"],
  [
    /^(?:ingest|plan|migrateKnowledgeBase): maxCost needs (.*): set price as well/,
    "--max-cost needs $1: set --price as well",
  ],
  [/^(?:ingest|plan|migrateKnowledgeBase): maxCost (\S+) buys/, "--max-cost $1 buys"],
  [/^chunk: maxTokens is (.*)\. Set maxTokens to /, "The longest chunk is to have $1. Set it to "],
  [/: try again then, or allow the call a longer deadlineMs/, ": try again then"],
  [
    /^watchSource: (.*) is not made of files that can be watched/,
    "--watch keeps up with files, and $1 is not made of files: run index again when it may have changed",
  ],
];

/** A message of the library as somebody understands it who has flags in the place of options. */
export function inCommandWords(message: string): string {
  return words.reduce((text, [option, flag]) => text.replace(option, flag), message);
}
