import { expect, test } from "vitest";
import { createRunContext } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { readUrl } from "../../../src/load/web/read-url.js";
import { scriptedUpstream, type ScriptedReply } from "../../support/scripted-upstream.js";

const here = { allowPrivate: true, requestsPerSecond: 100 } as const;

/** The paths that a site of these rules was asked for, beside its robots.txt, when it was to be read at `paths`. */
async function asked(rules: string, paths: readonly string[], redirects: Readonly<Record<string, string>> = {}) {
  const upstream = await scriptedUpstream(({ path }): ScriptedReply => {
    if (path === "/robots.txt") return { text: rules };
    const to = redirects[path];
    if (to !== undefined) return { status: 302, headers: { location: to } };
    return { text: "<p>Moles dig.", headers: { "content-type": "text/html" } };
  });
  const source = readUrl(
    paths.map((path) => upstream.baseUrl + path),
    here,
  );
  await collect(source.read(createRunContext()));
  return upstream.requests.map(({ path }) => path).filter((path) => path !== "/robots.txt");
}

test.each<[rule: string, closed: readonly string[], open: readonly string[]]>([
  ["/private", ["/private", "/priv%61te/a", "/%70%72%69%76%61%74%65", "/privat%65?a=1"], ["/priv%2561te", "/Private"]],
  ["/priv%61te", ["/private", "/priv%61te"], ["/priv"]],
  ["/a-b_c.d~e", ["/a%2Db%5fc%2ed%7Ee"], ["/a-b"]],
  ["/a%2fb", ["/a%2Fb", "/a%2fb"], ["/a/b"]],
  ["/a/b", ["/a/b"], ["/a%2Fb"]],
  ["/übung", ["/%c3%bcbung", "/%C3%BCbung", "/übung"], ["/ubung"]],
  ["/%E4%BD%A0", ["/你", "/%e4%bd%a0"], ["/们"]],
  ["/star%2a", ["/star*", "/star%2A"], ["/starling"]],
  ["/star*ling", ["/starling", "/star-d%61rling"], ["/star"]],
  ["/price$5", ["/price$5", "/price%245"], ["/price"]],
  ["/*.pdf$", ["/a.pdf", "/a.%70df"], ["/a.pdf?x"]],
  ["/search?q=%61", ["/search?q=a", "/se%61rch?q=%61b"], ["/search?q=b"]],
  ["/half%", ["/half%"], ["/hal"]],
  ["/a|b^c?q='d'", ["/a|b^c?q='d'", "/a%7cb%5Ec?q=%27d%27"], ["/a?q=d"]],
])("under Disallow: %s, paths are compared however their letters are escaped", async (rule, closed, open) => {
  const rules = `User-agent: *\r\ndisallow : ${rule} # of the moles\r\nAllow: /\r\n`;
  const sent = await asked(rules, [...closed, ...open]);
  expect(sent).toEqual(open.map((path) => new URL(path, "http://localhost").href.slice("http://localhost".length)));
});

test("an Allow that is longer opens what a Disallow closes, in whatever spelling", async () => {
  const rules = "User-agent: *\nDisallow: /priv%61te\nAllow: /private/%6fpen\n";
  expect(await asked(rules, ["/private/%6Fpen", "/private/closed"])).toEqual(["/private/%6Fpen"]);
});

test("a redirect to an escaped spelling of a closed path is not followed", async () => {
  const rules = "User-agent: *\nDisallow: /private\n";
  const redirects = { "/one": "/priv%61te/a", "/two": "/three", "/three": "/%70rivate" };
  expect(await asked(rules, ["/one", "/two"], redirects)).toEqual(["/one", "/two", "/three"]);
});
