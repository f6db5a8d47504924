import { homedir } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { holdsAddress, schemeOf } from "../core/options.js";
import { asError, OptionsError } from "../core/errors.js";
import { nearestName } from "../core/options.js";

/** Whether a store's place is the address of a database, and not a folder. */
export function isDatabaseAddress(place: string): boolean {
  return /^postgres(ql)?:\/\//i.test(place);
}

/** Kinds of address, as they begin. */
const kinds = ["file", "postgres", "postgresql"] as const;

/**
 * The folder that a store's place names: a path, relative to `directory`, of which a first `~` is the home folder, or a `file://`
 * address.
 *
 * @throws OptionsError for another kind of address, without what follows its scheme: that may hold a password.
 */
export function storeFolder(place: string, directory = "."): string {
  const refuse = (problem: string, cause?: Error): never => {
    throw new OptionsError("options", `${problem}. A store is a folder, ./.citewell or file:///…, or postgres://…`, {
      option: "path",
      ...(cause && { cause }),
    });
  };
  if (place.includes("\0") || /^file:[/\\]+[^?#]*%00/i.test(place)) refuse("The name of a folder holds no null byte");
  if (/^:memory:/i.test(place)) refuse("There are no stores in memory: name a folder, such as one of mkdtemp()");
  if (/^file:[/\\]+$/i.test(place))
    refuse("A file:// address names its folder, file:///data/kb, and this one names none");
  const scheme = schemeOf(place);
  if (scheme !== undefined && scheme.toLowerCase() !== "file") {
    const meant = nearestName(scheme.toLowerCase(), kinds);
    refuse(
      isDatabaseAddress(place)
        ? "The address of a database is no folder: open it by openPostgresStore() or openKnowledgeBase()"
        : `There are no stores at ${scheme}: addresses${meant === undefined ? "" : `; did you mean ${meant}://?`}`,
    );
  }
  if (/^file:(?![/\\])/i.test(place)) {
    refuse("A file:// address names its folder from the root, file:///data/kb; one beside the program is named ./kb");
  }
  if (scheme !== undefined) {
    if (/[?#]/.test(place)) {
      refuse("A file:// address has no query and no fragment; in the name of a folder, write %3F for ? and %23 for #");
    }
    try {
      return fileURLToPath(place);
    } catch (thrown) {
      // The message of the error says what is wrong, and repeats nothing of the address.
      const cause = asError(thrown);
      refuse(`The file:// address names no folder of this machine: ${cause.message}`, cause);
    }
  }
  if (holdsAddress(place)) {
    refuse("The place holds the address of a server or its password, and is no address as a whole: write it alone");
  }
  const [first = ""] = place.split(/[\\/]/, 1);
  if (first === "~") return resolve(homedir(), `.${place.slice(1)}`);
  if (first.startsWith("~")) {
    refuse(`${first} would be the home folder of another user, which is not looked up: name the folder, or ./${first}`);
  }
  return resolve(directory, place);
}
