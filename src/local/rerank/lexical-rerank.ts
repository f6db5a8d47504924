import { defaultTokens } from "../../text/tokens.js";
import type { RerankEngine } from "../engines.js";
import { pauses } from "../pause.js";
import { pieces } from "./pieces.js";
import { indexPassage, prepareQuery, relevance, type IndexedPassage } from "./relevance.js";

/** Pieces longer than this say too many things at once for one score. */
const pieceTokens = 512;
const shortestPieceTokens = 128;

/** Scores documents by the query's words in them: their rarity, frequency, closeness and coverage. */
export function lexicalRerank(): RerankEngine {
  return {
    score: async (query, documents, { model, maxChunksPerDocument, overlapTokens, signal }) => {
      const pause = pauses(signal);
      const prepared = prepareQuery(query);
      const room = (model.maxInputTokens ?? Number.POSITIVE_INFINITY) - defaultTokens.count(query);
      const limits = {
        maxTokens: Math.max(shortestPieceTokens, Math.min(pieceTokens, room)),
        overlapTokens,
        maxPieces: maxChunksPerDocument,
      };
      const passages: IndexedPassage[] = [];
      const owners: number[] = [];
      for (const [owner, document] of documents.entries()) {
        for (const piece of pieces(document, limits)) {
          passages.push(indexPassage(piece, prepared));
          owners.push(owner);
          await pause();
        }
      }
      const best = documents.map(() => 0);
      for (const [index, score] of relevance(prepared, passages).entries()) {
        const owner = owners[index] ?? 0;
        best[owner] = Math.max(best[owner] ?? 0, score);
      }
      return best;
    },
  };
}
