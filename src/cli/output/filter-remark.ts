import type { Filter } from "../../core/filter.js";
import { nearestName } from "../../core/options.js";
import type { KnowledgeBase } from "../../knowledge-base/options.js";
import { safeForTerminal } from "./terminal-text.js";

/** Maximum number of documents that are read to name the fields of a store. */
const maxSampled = 50;

/**
 * Says why a filter admits no document, in one line: a field that none has, with those that there are, or a condition that none
 * meets. `undefined` where it admits some, or the store is empty.
 */
export async function filterRemark(kb: KnowledgeBase, filter: Filter): Promise<string | undefined> {
  const admits = async (condition: Filter) => (await kb.scoped(condition).documents({ limit: 1 })).length > 0;
  if (await admits(filter)) return undefined;
  const stored = await kb.documents({ limit: maxSampled });
  if (stored.length === 0) return undefined;
  for (const condition of conditionsOf(filter)) {
    const [part, required] = Object.entries(condition)[0]!;
    if (part !== "metadata") {
      if (await admits(condition)) continue;
      const [{ uri }] = stored as [(typeof stored)[0]];
      const example = part === "uri" ? `; one is ${uri}` : "";
      return line(`no document has a ${part} that meets ${JSON.stringify(required)}${example}`);
    }
    const [field, wanted] = Object.entries(required as object)[0] as [string, unknown];
    if (await admits({ metadata: { [field]: { exists: true } } })) {
      if (await admits(condition)) continue;
      return line(`no document has a ${field} that meets ${JSON.stringify(wanted)}`);
    }
    const fields = await fieldsOf(kb, stored);
    const meant = nearestName(field, fields);
    const hint =
      meant === undefined
        ? `There are: ${fields.join(", ")}`
        : `Did you mean ${meant}? There are: ${fields.join(", ")}`;
    return line(`no document has a field ${JSON.stringify(field)}. ${hint}`);
  }
  return line("no document meets all of the filters together");
}

function line(problem: string): string {
  return `citewell: --filter: ${safeForTerminal(problem)}\n`;
}

/** The conditions of a filter of the command line, without those that exclude: these always admit what lacks the field. */
function conditionsOf({ all, ...alone }: Filter): readonly Filter[] {
  if (all) return all.flatMap(conditionsOf);
  return "not" in alone ? [] : [alone];
}

/** Names that `--filter` takes, from the first documents. */
async function fieldsOf(kb: KnowledgeBase, stored: readonly { readonly uri: string }[]): Promise<string[]> {
  const documents = await Promise.all(stored.map(({ uri }) => kb.document(uri)));
  const fields = new Set(documents.flatMap((document) => Object.keys(document?.metadata ?? {})));
  return [...new Set([...[...fields].toSorted(), "uri", "title", "source", "mediaType"])];
}
