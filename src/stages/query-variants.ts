import { z } from "zod";

/** The JSON object in a model's reply, also between other words or in a code fence; `undefined` when it is not of this shape. */
export function objectIn<Schema extends z.ZodType>(reply: string, schema: Schema): z.output<Schema> | undefined {
  const start = reply.indexOf("{");
  const end = reply.lastIndexOf("}");
  if (start < 0 || end < start) return undefined;
  try {
    return schema.safeParse(JSON.parse(reply.slice(start, end + 1))).data;
  } catch {
    return undefined;
  }
}

/** For telling wordings apart: the same letters and digits are the same wording. */
export function wording(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
