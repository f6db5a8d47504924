import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { type ExportDeclaration, type Node, type PropertyDeclaration, SyntaxKind } from "typescript/unstable/ast";
import {
  isExportSpecifier,
  isIdentifier,
  isPrivateIdentifier,
  isTypeOperatorNode,
  isTypeQueryNode,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import { API, type Checker, SignatureKind, type Symbol, SymbolFlags, type Type } from "typescript/unstable/sync";
import { root } from "./citewell.js";

const dist = join(root, "dist");

/** The entry points of package.json that have types. */
export interface Entry {
  /** `citewell`, `citewell/load` and so on. */
  readonly specifier: string;
  /** Path of its declarations below the project. */
  readonly types: string;
}

export const entries: readonly Entry[] = Object.entries(
  (
    JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
    }
  ).exports,
).flatMap(([name, target]) =>
  typeof target === "string" ? [] : [{ specifier: name.replace(/^\./, "citewell"), types: target.types }],
);

/** Something in the declarations that a user of the package sees. */
export interface Declared {
  /** Names from the declaration inwards: `RerankOptions.topN`. */
  readonly label: string;
  /** File below dist. */
  readonly file: string;
  readonly node: Node;
  /** Whether an entry point exports it; members and what only types lead to are not. */
  readonly exported: boolean;
}

/** The declarations of all entry points as the compiler sees them. */
export interface Declarations {
  readonly checker: Checker;
  /** Exports of each entry point, by specifier. */
  readonly exports: ReadonlyMap<string, readonly Symbol[]>;
}

/** Compiles the emitted declarations of all entry points, and ends the compiler after `read`. */
export function withDeclarations<T>(read: (declarations: Declarations) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "citewell-declarations-"));
  const config = join(folder, "tsconfig.json");
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    lib: ["es2023"],
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  };
  writeFileSync(config, JSON.stringify({ compilerOptions, files: entries.map(({ types }) => join(root, types)) }));
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    const { checker, program } = project!;
    const exports = entries.map(({ specifier, types }) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(join(root, types))!)!;
      return [specifier, checker.getExportsOfModule(module)] as const;
    });
    return read({ checker, exports: new Map(exports) });
  } finally {
    api.close();
    rmSync(folder, { recursive: true });
  }
}

const memberKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.PropertySignature,
  SyntaxKind.PropertyDeclaration,
  SyntaxKind.MethodSignature,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.GetAccessor,
]);
/** Declarations that a type may name, and those that `typeof` names. */
const typeKinds = [SyntaxKind.InterfaceDeclaration, SyntaxKind.TypeAliasDeclaration, SyntaxKind.ClassDeclaration];
const valueKinds = [SyntaxKind.VariableDeclaration, SyntaxKind.FunctionDeclaration];

/**
 * All declarations of this package that the entry points export or that the types of these lead to, with their members.
 * Left out are private members, and what comes from other packages.
 */
export function publicDeclarations({ checker, exports }: Declarations): readonly Declared[] {
  const found: Declared[] = [];
  const seen = new Set<Node>();
  const declarationOf = (named: Symbol) => (named.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named);
  const exported = new Set([...exports.values()].flat().map(declarationOf));
  const take = (named: Symbol | undefined, kinds: readonly SyntaxKind[]): void => {
    if (!named) return;
    const symbol = declarationOf(named);
    const own = symbol.declarations.filter(({ path, kind }) => path.startsWith(dist) && kinds.includes(kind));
    for (const [index, handle] of own.entries()) {
      const node = handle.resolve()!;
      if (seen.has(node)) continue;
      seen.add(node);
      const file = relative(dist, handle.path);
      // The first of several overloads speaks for all of them.
      const isOverload = index > 0 && handle.kind === SyntaxKind.FunctionDeclaration;
      if (!isOverload) found.push({ label: symbol.name, file, node, exported: exported.has(symbol) });
      node.forEachChild((child) => walk(child, symbol.name, file));
    }
  };
  const walk = (node: Node, owner: string, file: string): void => {
    let label = owner;
    if (memberKinds.has(node.kind)) {
      const { name, modifiers } = node as PropertyDeclaration;
      if (isPrivateIdentifier(name) || modifiers?.some(({ kind }) => kind === SyntaxKind.PrivateKeyword)) return;
      label = `${owner}.${name.getText()}`;
      found.push({ label, file, node, exported: false });
    }
    // The keys of a constant say nothing of what its fields hold.
    if (isTypeOperatorNode(node) && isTypeQueryNode(node.type)) return;
    if (isTypeQueryNode(node)) return take(checker.getSymbolAtLocation(node.exprName), valueKinds);
    if (isIdentifier(node)) return take(checker.getSymbolAtLocation(node), typeKinds);
    node.forEachChild((child) => walk(child, label, file));
  };
  for (const each of [...exports.values()].flat()) {
    take(each, isTypeExport(each) ? typeKinds : [...typeKinds, ...valueKinds]);
  }
  return found;
}

/** Whether `export type { … }` exports it, without the constant that may have the same name. */
export function isTypeExport({ declarations: [first] }: Symbol): boolean {
  const node = first?.resolve();
  return node !== undefined && isExportSpecifier(node) && (node.parent.parent as ExportDeclaration).isTypeOnly;
}

/** Whether a doc comment stands before a declaration. */
export function hasComment(node: Node): boolean {
  const holder = isVariableDeclaration(node) ? node.parent.parent : node;
  return (holder.jsDoc ?? []).length > 0;
}

/** A function that an entry point exports, or a method of what one returns. */
export interface PublicCall {
  /** `rerank`, or for methods the type and the name: `KnowledgeBase.search`. */
  readonly label: string;
  /** Its parameters that are objects with named fields: options, requests, ports and data. */
  readonly objects: readonly {
    readonly parameter: string;
    /** Name of the type; the whole type where it has none. */
    readonly type: string;
    readonly fields: readonly string[];
  }[];
}

/** All functions that a user of the package can call, found through what the exported ones return. */
export function publicCalls({ checker, exports }: Declarations): readonly PublicCall[] {
  const found = new Map<string, PublicCall>();
  const seen = new Set<string>();
  const isOwn = (symbol: Symbol | undefined) => symbol?.declarations.some(({ path }) => path.startsWith(dist)) ?? false;
  const nameOf = (type: Type) => {
    const named = type.getAliasSymbol() ?? type.getSymbol();
    return named && isOwn(named) && !named.name.startsWith("__") ? named.name : checker.typeToString(type);
  };
  const partsOf = (type: Type): readonly Type[] => (type.isUnionType() ? (type.getTypes() ?? []) : [type]);
  const fieldsOf = (type: Type) => checker.getPropertiesOfType(type).map(({ name }) => name);
  const callsOf = (type: Type) => checker.getSignaturesOfType(type, SignatureKind.Call);

  const visitFunction = (label: string, type: Type): boolean => {
    const signatures = callsOf(type);
    for (const signature of signatures) {
      const objects = signature.getParameters().flatMap((parameter, index) => {
        const given = checker.getNonNullableType(checker.getParameterType(signature, index)!)!;
        return partsOf(checker.getBaseConstraintOfType(given) ?? given)
          .filter((part) => isRecord(part))
          .map((part) => ({ parameter: parameter.name, type: nameOf(part), fields: fieldsOf(part) }));
      });
      const known = found.get(label)?.objects ?? [];
      const added = objects.filter(({ type: each }) => known.every((one) => one.type !== each));
      found.set(label, { label, objects: [...known, ...added] });
      visitResult(checker.getReturnTypeOfSignature(signature)!);
    }
    return signatures.length > 0;
  };
  const isRecord = (type: Type): boolean => {
    if (!(type.isObjectType() || type.isIntersectionType()) || callsOf(type).length > 0) return false;
    const symbol = type.getSymbol();
    const isForeign = symbol !== undefined && !isOwn(symbol) && !symbol.name.startsWith("__");
    return !isForeign && checker.getPropertiesOfType(type).length > 0;
  };
  const visitResult = (type: Type): void => {
    for (const part of partsOf(type)) {
      if (isRecord(part)) visitObject(nameOf(part), part);
      else if (part.isTypeReference()) for (const argument of checker.getTypeArguments(part)) visitResult(argument);
    }
  };
  const visitObject = (name: string, type: Type): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const property of checker.getPropertiesOfType(type)) {
      const held = checker.getNonNullableType(checker.getTypeOfSymbol(property)!)!;
      if (isOwn(property) && !visitFunction(`${name}.${property.name}`, held)) visitResult(held);
    }
  };
  for (const each of new Set([...exports.values()].flat())) {
    if (isTypeExport(each)) continue;
    const symbol = each.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each;
    const type = checker.getTypeOfSymbol(symbol)!;
    if (visitFunction(symbol.name, type)) continue;
    if (symbol.flags & SymbolFlags.Class) {
      visitObject(`typeof ${symbol.name}`, type);
      visitObject(symbol.name, checker.getDeclaredTypeOfSymbol(symbol));
    } else visitObject(symbol.name, type);
  }
  return [...found.values()];
}
