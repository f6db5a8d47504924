import type { Metadata } from "../../types.js";
import { find, textOf } from "../html-content.js";
import type { Package } from "./package.js";

export interface DocumentProperties {
  readonly title?: string;
  readonly metadata?: Metadata;
}

const kept: Readonly<Record<string, string>> = {
  "dc:creator": "author",
  "dc:description": "description",
  "dc:subject": "subject",
  "cp:keywords": "keywords",
};

/** What an Office Open XML file says of itself. */
export function documentProperties(parts: Package): DocumentProperties {
  const core = parts.xml("docProps/core.xml");
  if (!core) return {};
  const said = (wanted: string) => {
    const [element] = find(core, ({ name }) => name === wanted);
    return element ? textOf(element).replace(/\s+/gu, " ").trim() : "";
  };
  const title = said("dc:title");
  const entries = Object.entries(kept).flatMap(([element, name]) => {
    const value = said(element);
    return value === "" ? [] : [[name, value] as const];
  });
  return {
    ...(title !== "" && { title }),
    ...(entries.length > 0 && { metadata: Object.fromEntries(entries) }),
  };
}
