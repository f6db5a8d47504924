// app/api/[...path]/route.ts of a Next.js application, or of anything else that routes a Request to a Response.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";
import { createHandler } from "citewell/server";

export const runtime = "nodejs"; // The store is native code, which the edge runtime does not have.
export const dynamic = "force-dynamic";

// One for the process: a development server evaluates this file again after every change.
const held = globalThis as { citewell?: ReturnType<typeof open> };
async function open() {
  const kb = await openKnowledgeBase({ path: process.env["CITEWELL_STORE"] ?? join(tmpdir(), "citewell-next") });
  return { kb, handler: createHandler(kb, { access: ({ headers }) => (headers.get("x-user") ? {} : undefined) }) };
}
const opened = (held.citewell ??= open());

const handle = async (request: Request) => (await opened).handler.fetch(request);
export { handle as DELETE, handle as GET, handle as POST, handle as PUT };
