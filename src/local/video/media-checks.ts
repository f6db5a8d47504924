import { mediaViolations, totalDurationViolations } from "../../contract/media.js";
import type { Violation } from "../../contract/operation.js";
import { dataFacts } from "./data-facts.js";
import type { CheckedVideoRequest } from "./video-plan.js";

/** Bounds of size, shape and length that the media in a request break. Those at an address are not fetched. */
export function contentMediaViolations(content: CheckedVideoRequest["content"]): readonly Violation[] {
  const found: Violation[] = [];
  const clipSeconds: number[] = [];
  for (const [index, item] of content.entries()) {
    if (item.type === "image_url") {
      const facts = dataFacts("image", item.image_url.url);
      if (facts) found.push(...mediaViolations("image", facts, `content.${index}.image_url.url`));
    } else if (item.type === "audio_url") {
      const facts = dataFacts("audio", item.audio_url.url);
      if (facts) found.push(...mediaViolations("audio", facts, `content.${index}.audio_url.url`));
      if (facts?.durationSeconds !== undefined) clipSeconds.push(facts.durationSeconds);
    }
  }
  return [...found, ...totalDurationViolations("audio", clipSeconds)];
}
