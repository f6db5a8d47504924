import { z } from "zod";

/** Place in a document, in the form that every tool returns. */
export const place = {
  uri: z.string().describe("Address of the document, for read_source"),
  title: z.string().optional(),
  line: z.number().optional().describe("1-based line of the original file"),
  page: z.number().optional().describe("1-based page of the original file"),
  seconds: z.number().optional().describe("Time in a recording, in seconds from its start"),
  start: z.number().describe("Offset of the first character in the document's text"),
  end: z.number().describe("Offset just behind the last"),
};
