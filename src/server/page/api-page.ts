import { createHash } from "node:crypto";

type JsonObject = Readonly<Record<string, unknown>>;

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: JsonObject;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: JsonObject; readonly example?: unknown }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: Readonly<Record<string, { readonly schema?: JsonObject }>> }
    >
  >;
}

interface OpenApi {
  readonly info: { readonly title: string; readonly description: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 56rem; margin: 0 auto; padding: 1.5rem; }
h2 { margin-top: 2.5rem; }
details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .5rem 0; }
summary { cursor: pointer; }
code, pre { font: .875rem/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border-radius: .375rem; background: color-mix(in srgb, currentColor 7%, transparent); }
table { border-collapse: collapse; }
td, th { padding: .25rem 1rem .25rem 0; text-align: left; vertical-align: top; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; }`;

/**
 * The API for people to read: a page without scripts, made of its OpenAPI document, that asks nobody else for anything. Pure.
 *
 * @param address of the document, relative to the page
 */
export function apiPage(document: JsonObject, address: string): { readonly html: string; readonly policy: string } {
  const { info, tags, paths, components } = document as unknown as OpenApi;
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = tags.map(({ name }) => {
    const own = rows.filter(({ operation }) => operation.tags.includes(name));
    return `<h2>${escaped(name)}</h2>\n${own.map(operationHtml).join("\n")}`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escaped(name)}"><summary><code>${escaped(name)}</code></summary>${jsonHtml(schema)}</details>`,
  );
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(info.title)}: API</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(info.title)}: API</h1>
<p>${escaped(info.description)} Version ${escaped(info.version)}, as <a href="${address}">OpenAPI document</a>.</p>
${sections.join("\n")}
<h2>Schemas</h2>
${schemas.join("\n")}
</body>
</html>
`;
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return { html, policy };
}

interface Row {
  readonly path: string;
  readonly method: string;
  readonly operation: Described;
}

function operationHtml({ path, method, operation }: Row): string {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const names = parameters.map(
    ({ name, in: place, required, schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${place}${required ? ", required" : ""}</td><td>${escaped(about(schema))}</td></tr>`,
  );
  const bodies = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema, example }]) =>
      `<h3>Body: <code>${escaped(type)}</code></h3>${example === undefined ? "" : jsonHtml(example)}${schema ? jsonHtml(schema) : ""}`,
  );
  const replies = Object.entries(responses).map(
    ([status, { description, content = {} }]) =>
      `<tr><td>${status}</td><td>${escaped(description)}</td><td>${Object.values(content).map(schemaLink).join(" ")}</td></tr>`,
  );
  return `<details id="${escaped(operationId)}">
<summary><span class="method">${method}</span> <code>${escaped(path)}</code> ${escaped(summary)}</summary>
<p>Name for clients: <code>${escaped(operationId)}</code></p>
${names.length > 0 ? `<table>${names.join("")}</table>` : ""}
${bodies.join("\n")}
<h3>Replies</h3>
<table>${replies.join("\n")}</table>
</details>`;
}

function about({ type, description }: JsonObject): string {
  return [type, description].filter((part) => typeof part === "string").join(": ");
}

function schemaLink({ schema = {} }: { readonly schema?: JsonObject }): string {
  const name = /^#\/components\/schemas\/(.+)$/.exec(typeof schema["$ref"] === "string" ? schema["$ref"] : "")?.[1];
  return name === undefined ? "" : `<a href="#schema-${escaped(name)}"><code>${escaped(name)}</code></a>`;
}

function jsonHtml(value: unknown): string {
  return `<pre>${escaped(JSON.stringify(value, undefined, 2))}</pre>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
