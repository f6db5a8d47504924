// Given to Node as --import, writes the package of every module that is loaded to stderr, one a line: `citewell` for our own.
import { register } from "node:module";

const hooks = `
import { writeSync } from "node:fs";
export async function load(url, context, next) {
  const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1] ?? (/\\/dist\\/.*\\.js$/.test(url) && "citewell");
  if (name) writeSync(2, name + "\\n");
  return next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
