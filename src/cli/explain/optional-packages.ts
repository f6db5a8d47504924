import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** A package that one feature needs, and that users install themselves. */
export interface OptionalPackage {
  readonly name: string;
  /** The feature, as a phrase that begins with a verb: `reads Parquet`. */
  readonly brings: string;
}

/** The optional peers of package.json, in its order. */
export const optionalPackages: readonly OptionalPackage[] = [
  { name: "@e965/xlsx", brings: "reads .xls, .xlsb, .numbers and .ppt" },
  { name: "@huggingface/tokenizers", brings: "counts tokens as a model of your own does" },
  { name: "@huggingface/transformers", brings: "runs models with layers in the local service" },
  { name: "@kenjiuno/msgreader", brings: "reads mails of Outlook (.msg)" },
  { name: "@langchain/core", brings: "puts knowledge base and models behind LangChain's interfaces" },
  { name: "@modelcontextprotocol/server", brings: "serves editors and agents over MCP" },
  { name: "@opentelemetry/api", brings: "sends traces and metrics to OpenTelemetry" },
  { name: "ai", brings: "is the application that citewell/ai-sdk serves" },
  { name: "aws4fetch", brings: "signs requests to buckets that are not public" },
  { name: "graphile-worker", brings: "lets several machines index from one queue" },
  { name: "hyparquet", brings: "reads Parquet" },
  { name: "hyparquet-compressors", brings: "reads Parquet that is packed with ZSTD or LZ4" },
  { name: "jose", brings: "checks tokens of people who sign in" },
  { name: "mediabunny", brings: "checks clips and sound before a video is ordered" },
  { name: "openid-client", brings: "signs people in by OpenID Connect" },
  { name: "pg", brings: "keeps a store in PostgreSQL" },
  { name: "prom-client", brings: "shows figures to Prometheus" },
  { name: "sharp", brings: "sees the colours of pictures in the local service" },
  { name: "tesseract.js", brings: "reads words in pictures and scans (--ocr)" },
  { name: "vega", brings: "draws the charts of --report, with vega-lite" },
  { name: "vega-lite", brings: "draws the charts of --report, with vega" },
];

const require = createRequire(import.meta.url);

/** Version of a package that is installed beside this one, without loading it; `undefined` where it is not installed. */
export function installedVersion(name: string): string | undefined {
  // A package need not export its package.json, so that it cannot be resolved by name.
  const file = (require.resolve.paths(name) ?? [])
    .map((folder) => join(folder, name, "package.json"))
    .find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { readonly version?: string };
  return version ?? "without a version";
}
