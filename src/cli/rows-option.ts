import { InvalidArgumentError } from "commander";
import type { RowMapping } from "../load/rows/row-mapping.js";

const parts = ["text", "title", "id", "uri", "metadata"] as const;
type Part = (typeof parts)[number];

/**
 * `--rows text=body,title=subject,id=key`: which column is which part of a document. The text and the metadata may be of
 * several columns, each named with its part: `text=question,text=answer`.
 */
export function rowsOption(text: string, before: RowMapping = {}): RowMapping {
  return text.split(",").reduce(withColumn, before);
}

function withColumn(mapping: RowMapping, entry: string): RowMapping {
  const [, part, column] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/su.exec(entry) ?? [];
  if (!isPart(part) || !column) {
    const wanted = `Write part=column, the part being one of ${parts.join(", ")}: text=body,title=subject.`;
    throw new InvalidArgumentError(`${JSON.stringify(entry)} is none. ${wanted}`);
  }
  if (part === "text" || part === "metadata") return { ...mapping, [part]: [...[mapping[part] ?? []].flat(), column] };
  if (mapping[part] === undefined) return { ...mapping, [part]: column };
  throw new InvalidArgumentError(`There is one column for ${part}, and ${mapping[part]} was named before ${column}.`);
}

function isPart(name: string | undefined): name is Part {
  return parts.some((part) => part === name);
}
