import { z } from "zod";
import { given } from "../../core/given.js";
import { hasRole } from "../access.js";
import { Refusal } from "../guard/refusal.js";
import { existingConversation } from "./conversations.js";
import { route } from "./route.js";
import { wireRatedAnswer } from "./to-wire.js";
import { WireRatedAnswer } from "./wire.js";

/** Maximum length of a note, in characters. */
const maxNoteCharacters = 4000;

export const feedbackRoutes = [
  route({
    method: "POST",
    path: "/api/conversations/{id}/feedback",
    operation: "rateAnswer",
    summary: "Rate the answer to a question of a conversation, or take the rating back",
    request: z.strictObject({
      id: z.string().min(1).max(200).describe("Of the conversation"),
      position: z
        .int()
        .min(1)
        .describe("Of the question in its conversation, from 1")
        .meta({ examples: [1] }),
      rating: z
        .enum(["up", "down", "none"])
        .describe("none takes an earlier rating back")
        .meta({ examples: ["down"] }),
      note: z
        .string()
        .max(maxNoteCharacters)
        .optional()
        .meta({ examples: ["The port is out of date"] }),
    }),
    reply: "nothing",
    async serve({ id, position, rating, note }, context) {
      const { conversation } = await existingConversation(context, id);
      const answered = (await conversation.exchanges()).some((each) => each.position === position && each.answer);
      if (!answered) throw new Refusal(404, "not-found", "There is no answer to that question");
      const wanted = note?.trim() === "" ? undefined : note?.trim();
      await conversation.rate(position, rating === "none" ? undefined : { rating, ...given({ note: wanted }) });
      context.audit({ event: "feedback", conversation: id });
      return { nothing: true };
    },
  }),
  route({
    method: "GET",
    path: "/api/feedback",
    operation: "listFeedback",
    summary: "The rated answers, the latest rating first: all that the caller manages, else the caller's own",
    request: z.strictObject({ rating: z.enum(["up", "down"]).optional() }),
    reply: z.object({ answers: z.array(WireRatedAnswer) }),
    async serve({ rating }, { documents, access }) {
      const isManager = hasRole(access, "manage");
      const found = await documents.feedback(given({ rating, owner: isManager ? undefined : access.owner }));
      const shown = isManager ? found : found.filter(({ owner }) => owner === access.owner);
      return { json: { answers: shown.map(wireRatedAnswer) } };
    },
  }),
];
