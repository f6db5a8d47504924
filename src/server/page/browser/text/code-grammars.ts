import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scss from "highlight.js/lib/languages/scss";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const grammars = { bash, c, cpp, csharp, go, ini, java, javascript, json, kotlin, php, python, ruby, rust, scss, sql };
for (const [name, grammar] of Object.entries({ ...grammars, swift, typescript, xml, yaml })) {
  highlighter.registerLanguage(name, grammar);
}
// The loaders' names of languages that have no grammar of their own here, or one of another name.
highlighter.registerAliases(["shell"], { languageName: "bash" });
highlighter.registerAliases(["css", "less"], { languageName: "scss" });
highlighter.registerAliases(["vue", "svelte"], { languageName: "xml" });

/**
 * Code as markup, which has no elements but `span` with a class; `undefined` for a language without a grammar. It is a
 * string to be read, and never becomes HTML.
 */
export function markUp(code: string, language: string): string | undefined {
  if (!highlighter.getLanguage(language)) return undefined;
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}
