import { SyntaxKind } from "typescript/unstable/ast";
import { isLiteralTypeNode, isPropertySignatureDeclaration, isTypeAliasDeclaration } from "typescript/unstable/ast/is";
import { expect, test } from "vitest";
import { type Declared, hasComment, publicDeclarations, withDeclarations } from "./support/public-declarations.js";

/** Declarations that need no comment, each with the reason. One that has a comment, or is gone, must leave this list. */
const exceptions: Readonly<Record<string, string>> = {};

/** Names that mean the same in every type, so that a comment could only repeat them. */
const selfEvident = new Set([
  "answer",
  "chunkId",
  "function",
  "image_url",
  "json_schema",
  "sizeBytes",
  "taskId",
  "text",
]);

const commented = [SyntaxKind.FunctionDeclaration, SyntaxKind.ClassDeclaration, SyntaxKind.VariableDeclaration];

/**
 * Whether an editor has something to show only if there is a comment. An interface speaks through its fields, and a field
 * of one literal, such as `type: "finish"`, is the name of its variant.
 */
function needsComment({ label, node, exported }: Declared): boolean {
  if (label.includes(".") && selfEvident.has(label.split(".").at(-1)!)) return false;
  if (isPropertySignatureDeclaration(node)) return !(node.type && isLiteralTypeNode(node.type));
  if (isTypeAliasDeclaration(node)) return exported && node.type.kind === SyntaxKind.UnionType;
  if (node.kind === SyntaxKind.InterfaceDeclaration) return false;
  return exported || !commented.includes(node.kind);
}

const declared = withDeclarations((declarations) =>
  publicDeclarations(declarations).map((each) => ({
    name: `${each.file} ${each.label}`,
    needs: needsComment(each),
    has: hasComment(each.node),
  })),
);

test("the walk reaches what an entry exports, the fields of its options, and the types that only fields lead to", () => {
  const names = declared.map(({ name }) => name);
  expect(names).toContain("core/errors.d.ts CitewellError.code");
  expect(names).toContain("stages/retrieval/rerank.d.ts RerankOptions.topN");
  expect(names).toContain("transport/operations/rerank.d.ts RerankedDocument.score");
  expect(names).toContain("load/sources/file-memory.d.ts FileState.sizeBytes");
  expect(names).toContain("contract/chat.d.ts ChatRequest.temperature");
  expect(names.length).toBeGreaterThan(1200);
});

/** Names of options that are called or aborted, and of ports: what is without them goes without saying. */
const withoutDefault = /\.(?:signal|dispatcher|on[A-Z]\w*)$|AiSdkOptions\.|LangChainOptions\./;

test("an editor that points at an option shows its default, and the range of a number", () => {
  const options = withDeclarations((declarations) =>
    publicDeclarations(declarations).flatMap(({ file, label, node }) => {
      const isOption = isPropertySignatureDeclaration(node) && node.postfixToken !== undefined;
      if (!isOption || !/(?:Options|Settings|Limits|Choices)\./.test(label) || withoutDefault.test(label)) return [];
      const written = node.getSourceFile().text.slice(node.pos, node.end);
      const end = written.indexOf("*/");
      return [{ name: `${file} ${label}`, comment: written.slice(0, end), type: written.slice(end) }];
    }),
  );
  expect(options.length).toBeGreaterThan(400);
  const undefaulted = options.filter(({ comment }) => !/default|without it|in place of/i.test(comment));
  expect(undefaulted.map(({ name }) => name)).toEqual([]);
  const numbers = options.filter(({ type }) => /:\s*number;?$/.test(type));
  expect(numbers.length).toBeGreaterThan(100);
  expect(numbers.filter(({ comment }) => !/\d/.test(comment)).map(({ name }) => name)).toEqual([]);
});

test("every exported function, class, constant and union, and every property and method that types lead to, has a comment", () => {
  const missing = declared.filter(({ needs, has }) => needs && !has).map(({ name }) => name);
  expect(missing.filter((name) => !(name in exceptions))).toEqual([]);
  expect(Object.keys(exceptions).filter((name) => !missing.includes(name))).toEqual([]);
});
