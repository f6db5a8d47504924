import { type FunctionDeclaration, type JSDoc, type Node, SyntaxKind } from "typescript/unstable/ast";
import { isVariableDeclaration } from "typescript/unstable/ast/is";
import type { Checker } from "typescript/unstable/sync";
import type { Declarations, Declared } from "../support/public-declarations.js";
import { declarationsByEntry, type EntryDeclarations } from "./api-report.js";
import { declarationText } from "./declaration-text.js";

/** The API reference in Markdown, a page for each entry point. */
export interface Reference {
  /** Text of the pages, by file name. */
  readonly pages: ReadonlyMap<string, string>;
  /** Names such as `Answer.text` in comments whose type has no such field, with the declaration that names them. */
  readonly broken: readonly string[];
  /** Samples of the comments: the declaration and the code. */
  readonly samples: readonly { readonly label: string; readonly code: string }[];
}

export function referenceOf(declarations: Declarations): Reference {
  const entries = declarationsByEntry(declarations);
  const places = new Map<string, { readonly link: string; readonly declared: Declared }>();
  for (const { specifier, exported, reached } of entries) {
    for (const declared of [...exported, ...reached]) {
      const link = `${pageOf(specifier)}#${declared.label.toLowerCase()}`;
      if (!places.has(declared.label) || declared.exported) places.set(declared.label, { link, declared });
    }
  }
  const broken: string[] = [];
  const samples: { label: string; code: string }[] = [];

  const commentOf = ({ label, node }: Declared): string => {
    const [prose, code] = partsOf(commentText(node));
    samples.push(...code.map((each) => ({ label, code: each })));
    const linked = prose.replace(nameOrCall, (written, type?: string, field?: string, call?: string) => {
      const place = places.get(type ?? call ?? "");
      if (!place) return written;
      if (field !== undefined && !fieldsOf(place.declared, declarations.checker).includes(field)) {
        broken.push(`${label}: ${written}`);
      }
      return `[${written}](${place.link})`;
    });
    return [linked, ...code.map((each) => fence(each))].filter((part) => part !== "").join("\n\n");
  };
  const section = (declared: Declared, members: readonly Declared[]): string => {
    const own = members.filter(({ label, file }) => file === declared.file && label.startsWith(`${declared.label}.`));
    const fields = own.flatMap((member) => {
      const comment = commentOf(member).replaceAll(/\n(?!\n)/g, "\n  ");
      return comment === "" ? [] : [`- \`${member.label.slice(declared.label.length + 1)}\`: ${comment}`];
    });
    return [
      `## ${declared.label}`,
      commentOf(declared),
      fence(declarationText(declared.node, declarations.checker)),
      fields.join("\n"),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
  };
  const page = ({ specifier, exported, elsewhere, reached, members }: EntryDeclarations): string =>
    [
      `# ${specifier}`,
      ...exported.map((each) => section(each, members)),
      elsewhere.length === 0 ? "" : "# Also exported",
      elsewhere.map(({ label }) => `- [\`${label}\`](${places.get(label)!.link})`).join("\n"),
      reached.length === 0 ? "" : "# Types without a public name",
      ...reached.map((each) => section(each, members)),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
  const pages = new Map(entries.map((entry) => [pageOf(entry.specifier), `${page(entry)}\n`]));
  const index = entries.map(({ specifier }) => `- [${specifier}](${pageOf(specifier)})`).join("\n");
  return { pages: pages.set("README.md", `# API reference\n\n${index}\n`), broken, samples };
}

/** A type with or without a field, or a call: other lower-case words are more often parameters than what is exported. */
const nameOrCall = /`(?:([A-Z]\w*)(?:\.(\w+))?|(\w+)\([^`]*\))`/g;

function fieldsOf({ node }: Declared, checker: Checker): readonly string[] {
  const symbol = checker.getSymbolAtLocation((node as FunctionDeclaration).name!)!;
  const isValue = [SyntaxKind.FunctionDeclaration, SyntaxKind.VariableDeclaration].includes(node.kind);
  const type = isValue ? checker.getTypeOfSymbol(symbol)! : checker.getDeclaredTypeOfSymbol(symbol);
  const parts = type.isUnionType() ? (type.getTypes() ?? []) : [type];
  return parts.flatMap((part) => checker.getPropertiesOfType(part).map(({ name }) => name));
}

/** `citewell/load` stands in `citewell-load.md`. */
export function pageOf(specifier: string): string {
  return `${specifier.replace("/", "-")}.md`;
}

/** The text of a doc comment with its tags, without the stars. */
function commentText(node: Node): string {
  const holder = isVariableDeclaration(node) ? node.parent.parent : node;
  const comment = holder.jsDoc?.at(-1) as JSDoc | undefined;
  const text = comment?.getText().replace(/^\/\*\*|\*\/$/g, "") ?? "";
  return text.replace(/^[ \t]*\* ?/gm, "").trim();
}

/** Prose, in which tags are lines of a list, and the code of the samples. */
function partsOf(comment: string): readonly [prose: string, code: readonly string[]] {
  const code: string[] = [];
  const prose = comment
    .replace(/^```ts\n([\s\S]*?)^```$/gm, (_, sample: string) => (code.push(sample), ""))
    .replace(/^@example\s*$/gm, "")
    .replace(/^@param (\w+) /gm, "- Parameter `$1`: ")
    .replace(/^@returns /gm, "- Returns ")
    .replace(/^@throws /gm, "- Throws ");
  return [prose.trim(), code];
}

function fence(code: string): string {
  return `\`\`\`ts\n${code.trimEnd()}\n\`\`\``;
}
