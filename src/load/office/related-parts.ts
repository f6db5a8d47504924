import { posix } from "node:path";
import { find } from "../html-content.js";
import type { Package } from "./package.js";

/** Paths of the parts that a part names as related, of one kind, in the order in which it names them. */
export function related(parts: Package, path: string, kind: string): string[] {
  const folder = posix.dirname(path);
  const relations = parts.xml(`${folder}/_rels/${posix.basename(path)}.rels`);
  const content = parts.text(path) ?? "";
  return (relations ? find(relations, ({ name }) => name === "Relationship") : [])
    .filter(({ attributes }) => attributes["Type"]?.endsWith(`/${kind}`))
    .map(({ attributes }) => ({
      target: targetOf(folder, attributes["Target"] ?? ""),
      // The list of slides or sheets is in the part itself; the relations are in no order.
      place: content.indexOf(`r:id="${attributes["Id"]}"`),
    }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ target }) => target);
}

/** Targets are relative to the part's folder, or start at the root of the file. */
function targetOf(folder: string, target: string): string {
  return target.startsWith("/") ? target.slice(1) : posix.join(folder, target);
}
