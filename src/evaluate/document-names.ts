import { OptionsError } from "../core/errors.js";
import type { JudgedQuery } from "./collection.js";

/** Maximum number of names to compare. */
const maxNames = 1000;

/** The names of documents in rankings and judgements: where those are of two kinds, every score is 0 for no other reason. */
export class DocumentNames {
  readonly #found = new Set<string>();
  readonly #judged = new Set<string>();
  #haveMet = false;

  note(ranking: readonly string[], { judgements }: JudgedQuery): void {
    this.#haveMet ||= ranking.some((id) => judgements.has(id));
    if (this.#haveMet) return;
    for (const id of ranking) if (this.#found.size < maxNames) this.#found.add(id);
    for (const id of judgements.keys()) if (this.#judged.size < maxNames) this.#judged.add(id);
  }

  /** @throws OptionsError when no document that was found is judged, and the names differ in kind. */
  check(): void {
    if (this.#haveMet) return;
    const judged = [...this.#judged];
    const found = [...this.#found];
    const pair = found.flatMap((name) => {
      const id = judged.find((judgedId) => isOther(name, judgedId));
      return id === undefined ? [] : [[name, id] as const];
    })[0];
    if (!pair) return;
    const [name, id] = pair.map((text) => JSON.stringify(text));
    throw new OptionsError(
      "options",
      `no document that was found is judged: rankings name documents as ${name}, judgements as ${id}. ` +
        "Return the ids of the judgements, as openCollection()'s documentId makes them of uris",
      { call: "evaluate", option: "rank" },
    );
  }
}

/** Whether two names are of two kinds: one is an address and the other none, or one ends in the other. */
function isOther(one: string, other: string): boolean {
  return one !== other && (isAddress(one) !== isAddress(other) || endsIn(one, other) || endsIn(other, one));
}

function isAddress(name: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\S/i.test(name);
}

function endsIn(name: string, id: string): boolean {
  return name.endsWith(`/${id}`) || name.slice(0, Math.max(0, name.lastIndexOf("."))).endsWith(`/${id}`);
}
