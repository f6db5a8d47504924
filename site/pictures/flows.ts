import type { Step } from "./flow-diagram.js";

/** The way of a document, by the stages that `ingest` puts together. */
export const documentSteps: readonly Step[] = [
  { name: "source", does: "folder, pages, bucket,\nrepository, your own" },
  { name: "loader", does: "format to text, with the\nplace of each part" },
  { name: "chunk", does: "exact spans within the\nmodel's limit" },
  { name: "skipKnown", does: "what is stored as it is\ncosts nothing" },
  { name: "embedChunks", does: "vectors, batched\nand retried", asksModel: true },
  { name: "store", does: "text, vectors and words\nin one transaction" },
];

/** The way of a question, by the stages that `ask` puts together. */
export const questionSteps: readonly Step[] = [
  { name: "condense", does: "a follow-up becomes a\nquestion of its own", asksModel: true },
  { name: "embedQuestion", does: "one vector", asksModel: true },
  { name: "search", does: "by words and by meaning,\nfused; the filter is first" },
  { name: "rerank", does: "question and passage\nread together", asksModel: true },
  { name: "prompt", does: "passages are numbered\nand packed to fit" },
  { name: "answer", does: "text streams, with\nmarks such as [1]", asksModel: true },
  { name: "citations", does: "each quotation is looked\nup in the stored text" },
  { name: "you", does: "answer, sources, and\nwhether it is answered" },
];
