import { parseAst } from "vitest/node";

/** A node of the ESTree form. Offsets are UTF-16 units. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export function parse(code: string, language: "js" | "ts"): SyntaxNode {
  return parseAst(code, { lang: language }) as unknown as SyntaxNode;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { readonly type?: unknown }).type === "string";
}

export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flatMap((value: unknown) => (Array.isArray(value) ? value : [value]).filter(isNode));
}

/** Every node below `root`, itself included, without the inside of those that `enters` turns down. */
export function* walk(root: SyntaxNode, enters: (node: SyntaxNode) => boolean = () => true): Generator<SyntaxNode> {
  if (!enters(root)) return;
  yield root;
  for (const child of childrenOf(root)) yield* walk(child, enters);
}
