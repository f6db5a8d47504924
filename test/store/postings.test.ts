import { expect, test } from "vitest";
import { pageLength, Postings } from "../../src/store/lexical/postings.js";
import { seededRandom } from "../support/seeded-random.js";

test("lists hold what was appended, in order, beside lists taken over and past the length of a page", () => {
  const next = seededRandom(5);
  const takenOver = Array.from({ length: 300 }, () =>
    Array.from({ length: Math.floor(next() * 40) }, () => next() * 1e9),
  );
  const model = takenOver.map((list) => [...Uint32Array.from(list)]);
  const postings = new Postings(
    Uint32Array.from(model, (list) => list.length),
    Uint32Array.from(model.flat()),
  );
  // Rising steeply with the term's number, as words' frequencies do: the last lists outgrow a page several times over.
  for (let value = 0; value < pageLength * 4; value++) {
    const term = Math.floor(next() ** 0.05 * 600);
    while (postings.terms <= term) {
      postings.addTerm();
      model.push([]);
    }
    postings.append(term, value);
    model[term]!.push(value);
  }
  postings.addTerm();
  for (let at = 0; at < 2 * pageLength + 1; at++) {
    postings.append(0, at);
    model[0]!.push(at);
  }
  for (const [term, list] of model.entries()) expect(postings.list(term)).toEqual(Uint32Array.from(list));
  expect(postings.list(postings.terms - 1)).toHaveLength(0);
  expect(postings.entries).toBe(model.reduce((sum, list) => sum + list.length, 0));
});
