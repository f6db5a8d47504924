import { createRunContext, type RunEvent } from "../../src/core/pipeline.js";
import { collect } from "../../src/core/stream.js";
import { readFile, type ReadFileOptions } from "../../src/load/sources/read-file.js";
import { temporaryFolder } from "./temporary-folder.js";

/** All outcomes of one file in a folder of its own, with addresses from its name on. */
export async function readAll(name: string, content: string | Uint8Array, options: ReadFileOptions = {}) {
  const folder = await temporaryFolder({ [name]: content });
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  const documents = await collect(readFile(`${folder}/${name}`, options).read(context));
  const short = (uri: string) => uri.slice(uri.lastIndexOf(`/${name}`) + 1);
  return {
    documents: documents.map((document) => ({ ...document, uri: short(document.uri) })),
    skipped: events.flatMap((event) => (event.type === "skipped" ? [short(event.uri)] : [])),
    failures: [...context.failures].map(([uri, { message }]) => `${short(uri)}: ${message}`),
  };
}
