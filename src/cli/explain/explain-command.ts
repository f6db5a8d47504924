import type { CommandIo } from "../command-context.js";
import { allExplanations, findExplanations } from "./find-explanations.js";
import { exitCodes } from "../output/failure.js";

/** Prints why errors with a code are thrown and how to go on; without a code, the list of codes. Needs no network. */
export async function explainCommand(
  io: CommandIo,
  code: string | undefined,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const found = code === undefined ? allExplanations : findExplanations(code);
  if (json) {
    io.stdout.write(`${JSON.stringify(found)}\n`);
    return exitCodes.done;
  }
  const lines = found.map(({ name, code: own, cause, remedy }) =>
    code === undefined ? `${own} (${name}): ${cause}` : `${name}, code ${own}\n  Cause: ${cause}\n  Way out: ${remedy}`,
  );
  io.stdout.write(`${lines.join(code === undefined ? "\n" : "\n\n")}\n`);
  return exitCodes.done;
}
