import { proseSentences } from "../../../text/blocks/plain-text.js";
import type { ReadSource } from "./reading.js";
import { tellingTexts } from "./answer-text.js";
import { choosePassages } from "./passages/choose-passages.js";
import type { Schema } from "./values/json-schema.js";
import { requiredValue } from "./values/schema-value.js";

/**
 * A value of a schema that the caller requires: from the passages that answer the question and what tools told, or where
 * there are none, from the sentences of the question itself, which may be the text to read.
 */
export function structuredAnswer(
  schema: Schema,
  question: string,
  sources: readonly ReadSource[],
  told: readonly string[] = [],
): unknown {
  const chosen = choosePassages(question, sources).flatMap(tellingTexts);
  const texts = [...chosen, ...told];
  if (texts.length > 0) return requiredValue(schema, question, texts);
  const sentences = proseSentences(question).map(({ start, end }) => question.slice(start, end));
  return requiredValue(schema, "", sentences);
}
