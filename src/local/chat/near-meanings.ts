import { stem } from "../../text/stem.js";
import { plainForm } from "./word-forms.js";

/** Words with which a question and the text that answers it say the same. A word may stand in several groups. */
const groups =
  "begin start commence launch initiate inaugurate open origin;end finish conclude cease stop close;" +
  "large big great huge vast;kill murder assassinate die execute;buy purchase acquire;nation country;" +
  "american america united;job occupation profession career;film movie;city town;company firm corporation;" +
  "create make produce build construct develop invent design;establish found form create set;" +
  "call know refer name title term nickname;locate situate lie;live reside inhabit dwell resident;" +
  "say state claim argue declare;think believe consider view regard;show demonstrate reveal prove;" +
  "use utilize employ;get obtain receive gain acquire;help aid assist support;need require must necessary;" +
  "increase grow rise expand;decrease decline fall drop reduce;attack invade assault raid;fight battle war conflict;" +
  "win defeat victory beat;leader head chief ruler;child son daughter;wife husband spouse marry;doctor physician;" +
  "student pupil;teach instruct educate;near close adjacent;important significant major key;" +
  "main primary principal chief;famous renowned notable;cause lead result due reason because;" +
  "allow permit enable let;ban prohibit forbid;move relocate migrate emigrate travel;arrive come reach;" +
  "leave depart flee escape;give grant award provide donate;divide split separate;join enter;" +
  "change alter modify transform convert;stay remain;type kind form sort class;part section portion;region area;" +
  "amount quantity number;cost price;law act legislation;illness disease sick;ship boat vessel;plane aircraft;" +
  "car vehicle automobile;street road avenue;religion faith church;king monarch;goal aim purpose objective;" +
  "method way technique;result outcome effect consequence;rule govern reign;own possess;choose select elect pick;" +
  "reject refuse deny;oppose against resist;agree accept approve;influence affect inspire;" +
  "contain include consist comprise compose;happen occur;usually typically normally generally commonly;" +
  "approximately about around roughly;yearly annual year;first original initial early;old ancient;new recent modern;" +
  "rich wealthy;fast speed quick;high height tall;protect defend;destroy demolish;damage harm injure;" +
  "describe define;explain account;want wish desire seek;try attempt;begin early;born birth;write author;" +
  "lack without;average mean;total overall;entire whole;similar like alike resemble;different differ distinct vary;" +
  "opinion belief view;problem issue;study research investigate;discover find;british uk britain;french france;" +
  "german germany;english england;spanish spain;italian italy;dutch netherlands;chinese china;japanese japan;" +
  "russian russia;roman rome;greek greece;polish poland;european europe;swiss switzerland;danish denmark;" +
  "turkish turkey;scottish scotland;irish ireland;welsh wales;indian india;persian persia;jewish jew";

const near: ReadonlyMap<string, ReadonlySet<string>> = (() => {
  const found = new Map<string, Set<string>>();
  for (const group of groups.split(";")) {
    const words = group.split(" ").map((word) => plainForm(stem(word)));
    for (const word of words) {
      const others = found.get(word) ?? new Set<string>();
      for (const other of words) if (other !== word) others.add(other);
      found.set(word, others);
    }
  }
  return found;
})();

const none: ReadonlySet<string> = new Set();

/** Terms that mean nearly what a term means, as `film` and `movie` do. */
export function nearMeanings(term: string): ReadonlySet<string> {
  return near.get(term) ?? none;
}
