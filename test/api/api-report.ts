import { SyntaxKind } from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/sync";
import { type Declarations, type Declared, publicDeclarations } from "../support/public-declarations.js";
import { declarationText } from "./declaration-text.js";

/** The declarations that an entry point shows its users. */
export interface EntryDeclarations {
  /** `citewell/load` */
  readonly specifier: string;
  /** Its exports, by name. */
  readonly exported: readonly Declared[];
  /** Exported names whose place is the page of an entry point before this one. */
  readonly elsewhere: readonly { readonly label: string; readonly specifier: string }[];
  /** Types that no entry point exports, and that the exports of this one, and of none before it, lead to. */
  readonly reached: readonly Declared[];
  /** The fields and methods of all of these. */
  readonly members: readonly Declared[];
}

/** Gives every public declaration its place at the first entry point that exports it. */
export function declarationsByEntry({ checker, exports }: Declarations): readonly EntryDeclarations[] {
  const entries = [...exports].map(([specifier, symbols]) => {
    const declared = publicDeclarations({ checker, exports: new Map([[specifier, symbols]]) });
    return { specifier, declared };
  });
  const home = new Map<string, string>();
  for (const isExported of [true, false]) {
    for (const { specifier, declared } of entries) {
      for (const each of declared) {
        if (each.exported === isExported && !home.has(keyOf(each))) home.set(keyOf(each), specifier);
      }
    }
  }
  return entries.map(({ specifier, declared }) => {
    const isMember = ({ label }: Declared) => label.includes(".");
    const here = declared.filter((each) => home.get(keyOf(each)) === specifier);
    return {
      specifier,
      exported: here.filter(({ exported }) => exported).toSorted(byKindAndName),
      elsewhere: declared
        .filter((each) => each.exported && home.get(keyOf(each)) !== specifier)
        .map((each) => ({ label: each.label, specifier: home.get(keyOf(each))! })),
      reached: here.filter((each) => !each.exported && !isMember(each)).toSorted(byKindAndName),
      members: here.filter(isMember),
    };
  });
}

/** Values come before types. */
function byKindAndName(a: Declared, b: Declared): number {
  const orderOf = ({ node, label, file }: Declared) => {
    const isType = [SyntaxKind.InterfaceDeclaration, SyntaxKind.TypeAliasDeclaration].includes(node.kind);
    return `${isType ? 1 : 0} ${label} ${file}`;
  };
  return orderOf(a) < orderOf(b) ? -1 : 1;
}

function keyOf({ file, label }: Declared): string {
  return `${file} ${label}`;
}

/** The types of an entry point without their comments: what a new version may not change without saying so. */
export function apiReport({ specifier, exported, elsewhere, reached }: EntryDeclarations, checker: Checker): string {
  const code = (declared: readonly Declared[]) =>
    `\`\`\`ts\n${declared.map(({ node }) => declarationText(node, checker)).join("\n\n")}\n\`\`\`\n`;
  const parts = [`# ${specifier}\n`, code(exported)];
  if (elsewhere.length > 0) {
    parts.push(
      "Also exported:\n",
      ...elsewhere.map(({ label, specifier: home }) => `- \`${label}\` of \`${home}\``),
      "",
    );
  }
  if (reached.length > 0) parts.push("## Types without a public name\n", code(reached));
  return parts.join("\n");
}
