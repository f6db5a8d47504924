import { stem } from "../../../text/words/word-terms.js";

/** Words whose forms share no stem: the plain form first. */
const irregular =
  "be was were been;begin began begun;become became;bear bore born birth;beat beaten;bind bound;blow blew blown;" +
  "break broke broken;bring brought;build built;burn burnt;buy bought;catch caught;choose chose chosen choice;come came;" +
  "deal dealt;die dead death;dig dug;draw drew drawn;drink drank drunk;drive drove driven;eat ate eaten;fall fell fallen;" +
  "feed fed;feel felt;fight fought;flee fled;fly flew flown flight;forbid forbade forbidden;" +
  "forget forgot forgotten;freeze froze frozen;get got gotten;give gave given;go went gone;grow grew grown growth;" +
  "hear heard;hide hid hidden;hold held;keep kept;know knew known;lay laid;lead led;learn learnt;leave left;lend lent;" +
  "live life;lose lost loss;make made;marry marriage;mean meant;meet met;pay paid;ride rode ridden;ring rang rung;" +
  "rise rose risen;run ran;see saw seen;seek sought;sell sold sale;send sent;shake shook shaken;shoot shot;show shown;" +
  "shrink shrank shrunk;sing sang sung song;sink sank sunk;sit sat;sleep slept;speak spoke spoken speech;spend spent;" +
  "stand stood;steal stole stolen;strike struck;swear swore sworn;swim swam swum;take took taken;teach taught;tell told;" +
  "think thought;throw threw thrown;understand understood;wake woke;wear wore worn;win won winner;" +
  "write wrote written writer;withdraw withdrew withdrawn;succeed success;destroy destruction;arrive arrival;" +
  "high height;long length;wide width;deep depth;strong strength;poor poverty;child children;man men;woman women;" +
  "person people";

const plainForms: ReadonlyMap<string, string> = new Map(
  irregular.split(";").flatMap((line) => {
    const [plain = "", ...forms] = line.split(" ");
    return forms.map((form) => [stem(form), stem(plain)] as const);
  }),
);

/** The term that all forms of a word share, also where stemming keeps them apart: `wrote` is `write`. */
export function plainForm(term: string): string {
  return plainForms.get(term) ?? term;
}

/** Terms at least this alike are taken for forms of one word. */
export const minSimilarity = 0.6;
/** Shorter beginnings are shared by chance. */
const minSharedLetters = 4;

/**
 * How alike two terms are: 1 when they are the same, else the length of the beginning that they share, as a share of the
 * longer one. Catches spellings and forms that stemming keeps apart.
 */
export function similarity(one: string, other: string): number {
  if (one === other) return 1;
  let shared = 0;
  while (shared < one.length && shared < other.length && one[shared] === other[shared]) shared++;
  return shared < minSharedLetters ? 0 : shared / Math.max(one.length, other.length);
}

/** Similarity of a term to the most alike term of a set. */
export function termSimilarity(term: string, held: ReadonlySet<string>): number {
  if (held.has(term)) return 1;
  let best = 0;
  for (const other of held) best = Math.max(best, similarity(term, other));
  return best;
}
