import { extname } from "node:path";
import { declaredInXml, decodeText, latin1Start } from "./decode.js";
import type { FileToLoad, LoadedText } from "./loader.js";

/** Languages by the endings of their files. */
const endingsOf: Readonly<Record<string, string>> = {
  asm: ".asm .s",
  c: ".c .h",
  clojure: ".clj .cljs .cljc .edn",
  cmake: ".cmake",
  cpp: ".cc .cpp .cxx .hh .hpp .hxx .ipp",
  csharp: ".cs .csx",
  css: ".css .scss .sass .less",
  dart: ".dart",
  elixir: ".ex .exs",
  elm: ".elm",
  erlang: ".erl .hrl",
  fortran: ".f .f90 .f95 .for",
  fsharp: ".fs .fsi .fsx",
  go: ".go",
  gradle: ".gradle",
  graphql: ".graphql .gql",
  groovy: ".groovy",
  haskell: ".hs .lhs",
  ini: ".ini .cfg .conf .properties",
  java: ".java",
  javascript: ".js .mjs .cjs .jsx",
  julia: ".jl",
  kotlin: ".kt .kts",
  lua: ".lua",
  makefile: ".mk .mak",
  nix: ".nix",
  objectivec: ".m .mm",
  ocaml: ".ml .mli",
  pascal: ".pas .pp",
  perl: ".pl .pm",
  php: ".php",
  powershell: ".ps1 .psm1",
  protobuf: ".proto",
  python: ".py .pyi .pyw",
  r: ".r",
  ruby: ".rb .rake .gemspec",
  rust: ".rs",
  scala: ".scala .sc",
  shell: ".sh .bash .zsh .fish",
  solidity: ".sol",
  sql: ".sql",
  svelte: ".svelte",
  swift: ".swift",
  terraform: ".tf .tfvars .hcl",
  toml: ".toml",
  typescript: ".ts .mts .cts .tsx",
  verilog: ".v .sv .vhd .vhdl",
  vue: ".vue",
  xml: ".xml .xsd .xsl .xslt .wsdl",
  yaml: ".yaml .yml",
  zig: ".zig",
};

const languages: ReadonlyMap<string, string> = new Map(
  Object.entries(endingsOf).flatMap(([language, endings]) => endings.split(" ").map((ending) => [ending, language])),
);

/** Endings of source code and configuration. */
export const codeEndings: readonly string[] = [...languages.keys()];

/** Reads text and source code unchanged, so that its lines are the file's; the media type names the language: `text/x-python`. */
export function loadPlainText(file: FileToLoad): LoadedText {
  const language = languages.get(extname(file.path).toLowerCase());
  const declared = language === "xml" ? declaredInXml(latin1Start(file.bytes)) : undefined;
  const { text, warning } = decodeText(file, file.charset ?? declared);
  const mediaType = language === undefined ? "text/plain" : `text/x-${language}`;
  return { text, mediaType, ...(warning !== undefined && { warnings: [warning] }) };
}
