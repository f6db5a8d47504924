import { createHash } from "node:crypto";
import { OptionsError } from "../errors.js";

const longestName = 64;
const takenAsItIs = /^[A-Za-z0-9_-]{1,64}$/u;

/**
 * Tool names as a service takes them (letters, digits, `_`, `-`, at most 64), each mapped to its own name. A name that is
 * taken as it is stays; in others each other character becomes `_`, and a hash keeps apart what would then be equal.
 *
 * @throws OptionsError when two names are equal.
 */
export function toolNames(names: readonly string[]): ReadonlyMap<string, string> {
  const twin = names.find((name, index) => names.indexOf(name) !== index);
  if (twin !== undefined) throw new OptionsError("options", `tools: two tools are named ${JSON.stringify(twin)}`);
  const plain = names.map((name) => name.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, longestName));
  return new Map(
    names.map((name, index) => {
      const changed = plain[index] ?? "";
      const clashes = plain.some((other, at) => at !== index && other === changed);
      return [takenAsItIs.test(name) || !clashes ? changed : withHash(changed, name), name];
    }),
  );
}

function withHash(plain: string, name: string): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${plain.slice(0, longestName - hash.length - 1)}_${hash}`;
}
