import { type FunctionDeclaration, type Node, SyntaxKind } from "typescript/unstable/ast";
import { isFunctionDeclaration, isTypeAliasDeclaration, isVariableDeclaration } from "typescript/unstable/ast/is";
import type { Checker } from "typescript/unstable/sync";

/**
 * A declaration as a user meets it: all overloads of a function, without comments and without what is private. The keys of
 * a constant are written out, as they are a union that the declaration does not show.
 */
export function declarationText(node: Node, checker: Checker): string {
  if (isTypeAliasDeclaration(node) && /^keyof typeof \w+$/.test(node.type.getText())) {
    const type = checker.getTypeFromTypeNode(node.type)!;
    const keys = type.isUnionType() ? (type.getTypes() ?? []) : [type];
    return `type ${node.name.getText()} = ${keys.map((key) => checker.typeToString(key)).join(" | ")};`;
  }
  return overloadsOf(node)
    .map((each) => (isVariableDeclaration(each) ? each.parent.parent : each).getText())
    .join("\n")
    .replace(/\/\*\*[\s\S]*?\*\//g, "")
    .split("\n")
    .map((line) => line.replace(/^( *)(?:export )?(?:declare )?/, "$1").trimEnd())
    .filter((line) => line !== "" && !/^ +(?:private\b|#private;)/.test(line))
    .join("\n");
}

function overloadsOf(node: Node): readonly Node[] {
  if (!isFunctionDeclaration(node)) return [node];
  const name = node.name?.getText();
  const beside: FunctionDeclaration[] = [];
  node.parent.forEachChild((each) => {
    if (each.kind === SyntaxKind.FunctionDeclaration && isFunctionDeclaration(each) && each.name?.getText() === name) {
      beside.push(each);
    }
  });
  return beside;
}
