/** Options whose flag is not their name in kebab case. */
const otherNames: Readonly<Record<string, string>> = {
  timeoutMs: "--file-timeout",
  dataFolder: "--ocr",
  maxTokens: "the chunk size",
  maxCost: "--budget-cost",
};

/** The command line's name for an option of the library: `--base-url` for `baseUrl`. */
export function flagName(option: string): string {
  return otherNames[option] ?? `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
