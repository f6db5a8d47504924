import { z } from "zod";

/** The JSON of the HTTP API. The page imports its types, and `openapi.ts` describes it from the schemas. */

const picture = z.object({
  sha256: z.string().describe("SHA-256 of the picture's file"),
  mediaType: z.string(),
  describedBy: z.string().describe("Id of the model whose words they are"),
});

const place = {
  uri: z.string(),
  title: z.string().optional(),
  line: z.int().optional().describe("1-based line of the original file"),
  page: z.int().optional().describe("1-based page of the original file"),
  seconds: z.number().optional().describe("Time in a recording, in seconds from its start"),
  picture: picture.optional().describe("Picture that the words describe; they are not the document's own"),
  start: z.int().describe("Offset into the document's text, in UTF-16 code units"),
  end: z.int().describe("Offset just behind the last code unit"),
};

export const WirePassage = z
  .object({ chunkId: z.string(), ...place, text: z.string(), score: z.number() })
  .meta({ id: "Passage" });
export type WirePassage = z.output<typeof WirePassage>;

export const WireCitation = z
  .object({
    number: z.int().describe("As it stands in the text: [1]"),
    chunkId: z.string(),
    ...place,
    quote: z.string().describe("The document's own words; the claimed words when unsupported"),
    supported: z.boolean().describe("Whether the document holds these words there"),
    support: z.enum(["exact", "normalised", "near", "missing"]),
    struckOut: z.literal(true).optional().describe("Present when the words stand there, but are struck out"),
    sentence: z
      .object({ start: z.int(), end: z.int(), text: z.string() })
      .optional()
      .describe("The whole sentences of the document that `start..end` lies in; absent when `missing`"),
  })
  .meta({ id: "Citation" });
export type WireCitation = z.output<typeof WireCitation>;

export const WireRemark = z
  .object({
    start: z.int().describe("Offset into the answer's text, in UTF-16 code units"),
    end: z.int(),
    reason: z
      .enum(["missing", "near", "uncited"])
      .describe("What the place cites: other words, similar words, nothing"),
  })
  .meta({ id: "Remark" });
export type WireRemark = z.output<typeof WireRemark>;

export const WireNearest = z
  .object({
    passages: z.array(WirePassage).describe("At most three, best first"),
    headings: z.array(z.string()).describe("At most three, which can be asked about"),
  })
  .meta({ id: "Nearest" });
export type WireNearest = z.output<typeof WireNearest>;

/** A passage that was looked at on the way to an answer. */
export const WireConsidered = z
  .object({
    ...WirePassage.shape,
    text: z.string().describe("The beginning of the passage"),
    score: z.number().describe("Of the first retriever that found it, in its own scale"),
    ranks: z
      .array(z.object({ by: z.enum(["words", "meaning", "other"]), rank: z.int() }))
      .describe("Its rank with each way of searching that found it, from 1"),
    kept: z.boolean().describe("Whether the model was shown it"),
    verdict: z
      .enum(["shown", "low", "same-text", "reranked-low", "alike", "merged", "no-room", "other"])
      .describe("Why it was shown or not: `reason` as a code, for programs that speak other languages"),
    reason: z.string().describe("At which step it was kept or dropped, and why"),
  })
  .meta({ id: "Considered" });
export type WireConsidered = z.output<typeof WireConsidered>;

export const WireCall = z
  .object({
    approvalId: z.string(),
    id: z.string(),
    name: z.string(),
    input: z.unknown(),
    untrusted: z.boolean().describe("Whether the model had read text that is not the user's"),
    decision: z.object({ approved: z.boolean(), finished: z.boolean() }).optional(),
  })
  .meta({ id: "Call" });
export type WireCall = z.output<typeof WireCall>;

export const WireFailure = z.object({ code: z.string(), message: z.string() }).meta({ id: "Reason" });
export type WireFailure = z.output<typeof WireFailure>;

/**
 * Events of an answer. The stream ends with exactly one `finish`, `stopped` or `error`. `conversation` comes first where
 * the answer belongs to one, else `searching`; both are sent before the search begins.
 */
export const WireEvent = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("conversation"),
      id: z.string(),
      question: z.string(),
      position: z.int().describe("Of the question in its conversation, from 1"),
    }),
    z
      .object({ type: z.literal("searching") })
      .describe("The question was taken, and its passages are searched for now"),
    z.object({
      type: z.literal("retrieved"),
      passages: z.array(WirePassage),
      searchedFor: z
        .string()
        .optional()
        .describe("The question as it was searched for, where words of it are in no document and were corrected"),
    }),
    z.object({ type: z.literal("reasoning-delta"), text: z.string() }),
    z.object({ type: z.literal("text-delta"), text: z.string().describe("Markdown; [1] is a piece of its own") }),
    z.object({ type: z.literal("citation"), citation: WireCitation }),
    z.object({ type: z.literal("tool-call"), id: z.string(), name: z.string(), input: z.unknown() }),
    z.object({ type: z.literal("approval"), id: z.string(), name: z.string(), approved: z.boolean() }),
    z.object({ type: z.literal("approval-needed"), call: WireCall }),
    z.object({
      type: z.literal("tool-result"),
      id: z.string(),
      name: z.string(),
      output: z.unknown().optional(),
      error: z.string().optional(),
    }),
    z.object({
      type: z.literal("warning"),
      message: z.string(),
      about: z.literal("claims").optional().describe("Present where it sums up the remarks of the finish event"),
    }),
    z.object({
      type: z.literal("finish"),
      text: z.string(),
      answered: z.boolean().describe("False when the documents do not hold the answer, or calls wait"),
      citations: z.array(WireCitation),
      considered: z.array(WireConsidered).describe("What was looked at, the passages that were shown first"),
      remarks: z.array(WireRemark).describe("Places of the text that claim something without a citation that holds"),
      nearest: WireNearest.optional().describe("What is nearest to a question that the documents do not answer"),
      waiting: z.array(WireCall).describe("Calls that wait for approval; empty when the answer is whole"),
      model: z.string(),
      finishReason: z
        .enum(["stop", "length", "tool-calls", "content-filter", "other"])
        .describe("Why the model stopped; length: the text is cut off at the limit of tokens"),
      inputTokens: z.int().optional(),
      cachedTokens: z.int().optional().describe("Part of `inputTokens` that the model had read before"),
      reasoningTokens: z.int().optional().describe("Tokens of thinking, which most models count among `outputTokens`"),
      outputTokens: z.int().optional(),
    }),
    z.object({ type: z.literal("stopped"), text: z.string().describe("The answer as far as it came, which is kept") }),
    z.object({ type: z.literal("error"), error: WireFailure }),
  ])
  .meta({ id: "Event" });
export type WireEvent = z.output<typeof WireEvent>;

export const WireConversation = z
  .object({
    id: z.string(),
    title: z.string(),
    exchanges: z.int(),
    waiting: z.boolean().describe("Whether an answer waits for approval"),
    createdAtMs: z.int(),
    updatedAtMs: z.int(),
  })
  .meta({ id: "Conversation" });
export type WireConversation = z.output<typeof WireConversation>;

export const WireFeedback = z
  .object({
    rating: z.enum(["up", "down"]),
    note: z.string().optional(),
    givenAtMs: z.int(),
  })
  .meta({ id: "Feedback" });
export type WireFeedback = z.output<typeof WireFeedback>;

export const WireRatedAnswer = z
  .object({
    conversation: z.string(),
    position: z.int().describe("Of the question in its conversation, from 1"),
    question: z.string(),
    text: z.string().describe("The answer"),
    citations: z.array(WireCitation),
    feedback: WireFeedback,
  })
  .meta({ id: "RatedAnswer" });
export type WireRatedAnswer = z.output<typeof WireRatedAnswer>;

export const WireExchange = z
  .object({
    position: z.int(),
    question: z.string(),
    askedAtMs: z.int(),
    answer: z
      .object({
        text: z.string(),
        citations: z.array(WireCitation),
        remarks: z.array(WireRemark).optional(),
        nearest: WireNearest.optional(),
        stopped: z.boolean(),
      })
      .optional()
      .describe("Absent when it failed, waits, or is still being made"),
    feedback: WireFeedback.optional().describe("The reader's rating of the answer"),
    waiting: z.object({ text: z.string(), citations: z.array(WireCitation), calls: z.array(WireCall) }).optional(),
  })
  .meta({ id: "Exchange" });
export type WireExchange = z.output<typeof WireExchange>;

export const WireWholeConversation = z
  .object({
    ...WireConversation.shape,
    running: z.boolean().describe("Whether an answer is being made: follow it at …/events"),
    history: z.array(WireExchange),
  })
  .meta({ id: "WholeConversation" });
export type WireWholeConversation = z.output<typeof WireWholeConversation>;

export const WireDocument = z
  .object({
    uri: z.string(),
    title: z.string().optional(),
    source: z.string().optional().describe("What it was read from"),
    chunks: z.int(),
  })
  .meta({ id: "Document" });
export type WireDocument = z.output<typeof WireDocument>;

/** A part of a document's text around a passage. */
export const WireExcerpt = z
  .object({
    ...place,
    mediaType: z.string().optional(),
    text: z.string().describe("The document's text from `from`"),
    from: z.int().describe("Offset of the first code unit of `text` in the document"),
    fromLine: z.int().describe("Number of the line of the document's text that `text` begins in, from 1"),
    length: z.int().describe("Length of the whole document, in UTF-16 code units"),
    pages: z
      .array(z.object({ page: z.int(), start: z.int() }))
      .describe("Where pages begin within the excerpt, in a document that has pages"),
    cells: z.array(z.int()).optional().describe("Where cells begin within the excerpt, in a notebook"),
    boxes: z
      .array(z.object({ page: z.int(), left: z.number(), top: z.number(), right: z.number(), bottom: z.number() }))
      .optional()
      .describe(
        "Boxes around the lines of the passage on scanned pages, in shares of the page from its left and its top",
      ),
    tableHead: z
      .string()
      .optional()
      .describe("Head and rule of the Markdown table whose rows `text` begins with; they stand above it"),
    mail: z
      .object({
        from: z.string().optional(),
        to: z.array(z.string()),
        cc: z.array(z.string()),
        date: z.string().optional().describe("ISO 8601"),
        attachments: z.array(
          z.object({ name: z.string(), uri: z.string().optional().describe("Its document, if there is one") }),
        ),
      })
      .optional()
      .describe("Head of a mail, whose subject is `title`"),
    rows: z
      .object({
        columns: z.array(z.string()),
        rows: z.array(
          z.object({
            uri: z.string(),
            number: z.int().describe("As its address has it"),
            cells: z.array(
              z.object({
                name: z.string().describe("Of its column"),
                value: z.string(),
                start: z.int().optional().describe("Offset of the value in the document's text, of the row itself"),
              }),
            ),
          }),
        ),
      })
      .optional()
      .describe("The row that the document is, and those around it, where `rows` asks for them"),
  })
  .meta({ id: "Excerpt" });
export type WireExcerpt = z.output<typeof WireExcerpt>;

export const WireUpload = z
  .object({
    name: z.string(),
    bytes: z.int(),
    state: z.enum(["waiting", "reading", "done", "failed"]),
    uri: z.string().describe("Of its document; of files with several, the beginning of their addresses"),
    chunks: z.int().optional(),
    error: z.string().optional().describe("Why it failed, and what to do"),
    warnings: z.array(z.string()).describe("What was read only in part"),
  })
  .meta({ id: "Upload" });
export type WireUpload = z.output<typeof WireUpload>;

export const WireStatus = z
  .object({
    title: z.string().describe("Name of the collection"),
    documents: z.int(),
    chunks: z.int(),
    mayWrite: z.boolean().describe("Whether documents may be deleted"),
    chatModel: z.boolean().describe("False when no chat model is connected: answers are the nearest passages"),
    originals: z
      .enum(["none", "files", "documents"])
      .describe("What can be had at /api/originals: nothing, files of the server, or the original of every document"),
    images: z.boolean().describe("Whether questions may have pictures: a model that sees them is connected"),
    pictures: z.boolean().describe("Whether pictures of documents can be had at /api/pictures"),
    choices: z
      .object({
        chatModels: z.array(z.string()).describe("Ids of chat models beside the usual one"),
        maxPassages: z.int().optional().describe("Maximum number of passages; absent when it cannot be chosen"),
        maxInstructionCharacters: z
          .int()
          .optional()
          .describe("Maximum length of instructions; absent when none are taken"),
      })
      .optional()
      .describe("Present when callers may choose something by `settings` of a question"),
    uploads: z
      .object({ maxBytes: z.int(), endings: z.array(z.string()) })
      .optional()
      .describe("Present when files may be uploaded"),
  })
  .meta({ id: "Status" });
export type WireStatus = z.output<typeof WireStatus>;

export const WireStatistics = z
  .object({
    documents: z.int(),
    chunks: z.int(),
    embeddings: z.string().describe("Model that made the vectors"),
    dimension: z.int().optional().describe("Length of the vectors, once there are some"),
    sources: z
      .array(z.object({ source: z.string().optional(), documents: z.int(), chunks: z.int() }))
      .describe("What the documents were read from, those with the most documents first"),
  })
  .meta({ id: "Statistics" });
export type WireStatistics = z.output<typeof WireStatistics>;
