import { z } from "zod";
import { Refusal } from "../guard/refusal.js";
import { route, type RouteContext } from "./route.js";
import type { Uploads } from "./uploads.js";
import { WireUpload } from "./wire.js";

const name = z
  .string()
  .min(1)
  .normalize()
  .describe("Of the file, with its ending")
  .meta({ examples: ["keys.pdf"] });

export const uploadRoutes = [
  route({
    method: "GET",
    path: "/api/uploads",
    operation: "listUploads",
    summary: "The files that were uploaded, and how far each is",
    request: z.strictObject({}),
    reply: z.object({ uploads: z.array(WireUpload) }),
    serve: async (_, context) => ({ json: { uploads: await uploadsOf(context).list(context) } }),
  }),
  route({
    method: "PUT",
    path: "/api/uploads/{name}",
    operation: "uploadFile",
    summary: "Upload a file, in place of the one of that name; it is indexed soon after",
    request: z.strictObject({ name }),
    reply: WireUpload,
    takesBytes: true,
    async serve(fields, context) {
      const { body } = context.request;
      const upload = await uploadsOf(context).receive(fields.name, body, context);
      context.audit({ event: "upload", file: fields.name });
      return { json: upload, status: 202 };
    },
  }),
  route({
    method: "POST",
    path: "/api/uploads/{name}/retry",
    operation: "retryUpload",
    summary: "Try a file again that failed",
    request: z.strictObject({ name }),
    reply: WireUpload,
    serve: async (fields, context) => ({ json: await uploadsOf(context).retry(fields.name, context), status: 202 }),
  }),
  route({
    method: "DELETE",
    path: "/api/uploads/{name}",
    operation: "deleteUpload",
    summary: "Delete a file that was uploaded, with its documents",
    request: z.strictObject({ name }),
    reply: "nothing",
    async serve(fields, context) {
      await uploadsOf(context).remove(fields.name, context);
      context.audit({ event: "deletion", file: fields.name });
      return { nothing: true };
    },
  }),
];

function uploadsOf({ uploads }: RouteContext): Uploads {
  if (uploads) return uploads;
  throw new Refusal(403, "forbidden", "Files may not be uploaded here");
}
