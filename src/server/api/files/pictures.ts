import { z } from "zod";
import { PictureFolder } from "../../../load/picture-folder.js";
import { Refusal } from "../../guard/refusal.js";
import { route } from "../route.js";

/** Types that a browser shows as pictures, and never as pages. */
const shownTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/gif",
  "image/bmp",
  "image/tiff",
]);
const daySeconds = 86_400;

export const pictureRoutes = [
  route({
    method: "GET",
    path: "/api/pictures",
    operation: "getPicture",
    summary: "A picture of a document that a model described, where the server keeps it",
    request: z.strictObject({
      uri: z
        .string()
        .min(1)
        .describe("Address of the document")
        .meta({ examples: ["file:///docs/keys.md"] }),
      sha256: z
        .string()
        .regex(/^[\da-f]{64}$/)
        .describe("SHA-256 of the picture's file, as the place of a citation names it")
        .meta({ examples: ["0".repeat(64)] }),
    }),
    reply: "file",
    async serve({ uri, sha256 }, { documents, pictures, audit }) {
      const document = pictures === undefined ? undefined : await documents.document(uri);
      // The same picture may stand in a document that the caller must not see: this one has to hold it.
      const origin = document?.anchors?.find(({ picture }) => picture && picture.sha256 === sha256)?.picture;
      const bytes = pictures !== undefined && origin && (await new PictureFolder(pictures).picture(sha256));
      if (!origin || !bytes || !shownTypes.has(origin.mediaType)) {
        throw new Refusal(404, "not-found", "There is no such picture to show");
      }
      audit({ event: "document", uri });
      const headers = {
        "content-type": origin.mediaType,
        "content-length": String(bytes.length),
        "content-disposition": "inline",
        "content-security-policy": "sandbox; default-src 'none'",
        "cache-control": `private, max-age=${daySeconds}`,
      };
      return { response: new Response(bytes as never, { headers }) };
    },
  }),
];
