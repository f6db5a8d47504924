import { childrenOf, isNode, parse, type SyntaxNode } from "./syntax-tree.js";

/** One small change to a file that some test should notice. */
export interface Mutant {
  /** The changed stretch, in UTF-16 units of the file. */
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
  readonly kind: MutantKind;
}

export type MutantKind =
  | "negate"
  | "boundary"
  | "equality"
  | "logic"
  | "arithmetic"
  | "number"
  | "boolean"
  | "fallback"
  | "optional"
  | "branch"
  | "return"
  | "call"
  | "statement"
  | "extreme";

const swaps: Readonly<Record<string, readonly [MutantKind, string]>> = {
  "<": ["boundary", "<="],
  "<=": ["boundary", "<"],
  ">": ["boundary", ">="],
  ">=": ["boundary", ">"],
  "===": ["equality", "!=="],
  "!==": ["equality", "==="],
  "&&": ["logic", "||"],
  "||": ["logic", "&&"],
  "+": ["arithmetic", "-"],
  "-": ["arithmetic", "+"],
  "*": ["arithmetic", "/"],
  "/": ["arithmetic", "*"],
  "+=": ["arithmetic", "-="],
  "-=": ["arithmetic", "+="],
  "++": ["arithmetic", "--"],
  "--": ["arithmetic", "++"],
  min: ["extreme", "max"],
  max: ["extreme", "min"],
};

/** Larger numbers are limits that were tuned: they are doubled and halved. */
const maxExactNumber = 16;

/** Calls that leave something of the same kind when they are taken away: `list.filter(…)` becomes `list`. */
const removableMethods = new Set(
  "filter slice toSorted toReversed toSpliced sort reverse trim trimStart trimEnd toLowerCase normalize replace replaceAll flat".split(
    " ",
  ),
);

/** All mutants of a JavaScript module, in the order of their places. */
export function findMutants(code: string): Mutant[] {
  const mutants: Mutant[] = [];
  visit(parse(code, "js"), undefined);
  return mutants.toSorted((one, other) => one.start - other.start || one.end - other.end);

  function change(
    kind: MutantKind,
    { start, end }: { readonly start: number; readonly end: number },
    replacement: string,
  ) {
    mutants.push({ start, end, original: code.slice(start, end), replacement, kind });
  }

  function visit(node: SyntaxNode, parent: SyntaxNode | undefined): void {
    // Wording of messages is not worth a test.
    if (node.type === "ImportDeclaration" || isNewError(node)) return;
    mutate(node, parent);
    for (const child of childrenOf(node)) visit(child, node);
  }

  function mutate(node: SyntaxNode, parent: SyntaxNode | undefined): void {
    switch (node.type) {
      case "IfStatement":
        negate(node["test"]);
        if (isNode(node["alternate"])) change("branch", node["alternate"], "{}");
        else change("branch", node["consequent"] as SyntaxNode, "{}");
        break;
      case "ConditionalExpression":
        negate(node["test"]);
        break;
      case "LogicalExpression":
        if (node["operator"] === "??") change("fallback", node, textOf(node["left"]));
        else swapOperator(node);
        break;
      case "BinaryExpression":
        if (node["operator"] !== "+" || (!isText(node["left"]) && !isText(node["right"]))) swapOperator(node);
        break;
      case "AssignmentExpression":
        if (!isText(node["right"])) swapOperator(node);
        break;
      case "UpdateExpression": {
        const swapped = swaps[node["operator"] as string]!;
        const at = node["prefix"] === true ? node.start : node.end - 2;
        // A loop that counts the other way never ends: that costs a time-out and says nothing.
        if (parent?.type !== "ForStatement") change(swapped[0], { start: at, end: at + 2 }, swapped[1]);
        break;
      }
      case "Literal":
        mutateLiteral(node, parent);
        break;
      case "ReturnStatement":
        if (isNode(node["argument"]) && !isPlain(node["argument"])) change("return", node, "return;");
        break;
      case "ArrowFunctionExpression":
        if (node["expression"] === true) mutateArrowBody(node["body"] as SyntaxNode);
        break;
      case "MemberExpression":
        mutateMember(node);
        break;
      case "CallExpression":
        mutateCall(node);
        break;
      case "ExpressionStatement":
        removeStatement(node);
        break;
      case "ThrowStatement":
      case "ContinueStatement":
        change("statement", node, ";");
        break;
      default:
    }
  }

  function negate(test: unknown): void {
    if (isNode(test)) change("negate", test, `!(${textOf(test)})`);
  }

  function swapOperator({ left, right, operator }: SyntaxNode): void {
    const swapped = swaps[operator as string];
    if (!swapped || !isNode(left) || !isNode(right)) return;
    const [, before = "", found = ""] = /^([\s)]*)(\S+?)[\s(]*$/u.exec(code.slice(left.end, right.start)) ?? [];
    // Otherwise a comment stands between them.
    if (found !== operator) return;
    const start = left.end + before.length;
    change(swapped[0], { start, end: start + found.length }, swapped[1]);
  }

  function mutateLiteral(node: SyntaxNode, parent: SyntaxNode | undefined): void {
    const { value } = node;
    if (parent?.["key"] === node) return;
    if (typeof value === "boolean") change("boolean", node, String(!value));
    if (typeof value !== "number") return;
    // Nobody notices one more of a tuned 4,096; of code points in hexadecimal the next is another.
    const isTuned = value > maxExactNumber && !String(node["raw"]).startsWith("0x");
    change("number", node, String(isTuned ? 2 * value : value + 1));
    change("number", node, String(isTuned ? value / 2 : value - 1));
  }

  function mutateArrowBody(body: SyntaxNode): void {
    if (!isPlain(body)) change("return", body, "undefined");
  }

  function mutateMember(node: SyntaxNode): void {
    const { object, property, optional } = node as SyntaxNode & Record<"object" | "property", SyntaxNode>;
    if (optional === true) {
      const at = code.indexOf("?.", object.end);
      change("optional", { start: at, end: at + 2 }, node["computed"] === true ? "" : ".");
    }
    const swapped = object["name"] === "Math" ? swaps[property["name"] as string] : undefined;
    if (swapped) change(swapped[0], property, swapped[1]);
  }

  function mutateCall(node: SyntaxNode): void {
    const callee = node["callee"] as SyntaxNode;
    if (callee.type !== "MemberExpression" || node["optional"] === true) return;
    const name = (callee["property"] as SyntaxNode)["name"];
    if (removableMethods.has(name as string)) change("call", node, textOf(callee["object"]));
  }

  function removeStatement(node: SyntaxNode): void {
    const expression = node["expression"] as SyntaxNode;
    if (expression.type === "Literal") return;
    if (expression.type === "CallExpression" && (expression["callee"] as SyntaxNode).type === "Super") return;
    change("statement", node, ";");
  }

  function textOf(node: unknown): string {
    return isNode(node) ? code.slice(node.start, node.end) : "";
  }
}

function isNewError(node: SyntaxNode): boolean {
  const callee = node["callee"];
  return node.type === "NewExpression" && isNode(callee) && String(callee["name"]).endsWith("Error");
}

/** Values that have mutants of their own, or are nothing already. */
function isPlain(node: SyntaxNode): boolean {
  return node.type === "Literal" || (node.type === "Identifier" && node["name"] === "undefined");
}

function isText(node: unknown): boolean {
  return isNode(node) && (node.type === "TemplateLiteral" || typeof node["value"] === "string");
}
