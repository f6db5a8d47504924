/**
 * Scores of texts for a query by Okapi BM25 as it stands in the books (Robertson and Zaragoza, "The Probabilistic Relevance
 * Framework", 2009), with k1 1.2, b 0.75 and the inverse document frequency of Lucene, which is never negative. 0 for texts
 * without any word of the query.
 */
export function bm25(query: readonly string[], texts: readonly (readonly string[])[]): number[] {
  const averageLength = texts.reduce((sum, words) => sum + words.length, 0) / texts.length;
  const rarities = query.map((word) => {
    const having = texts.filter((words) => words.includes(word)).length;
    return Math.log(1 + (texts.length - having + 0.5) / (having + 0.5));
  });
  return texts.map((words) =>
    query.reduce((sum, word, index) => {
      const frequency = words.filter((one) => one === word).length;
      return (
        sum + (rarities[index]! * frequency * 2.2) / (frequency + 1.2 * (0.25 + (0.75 * words.length) / averageLength))
      );
    }, 0),
  );
}
