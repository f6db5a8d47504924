// A font maps glyphs to characters, and where two characters share a glyph a PDF often names the wrong one: the radical
// instead of the ideograph, the shaped form instead of the letter. Searching for the right one then finds nothing.

// Equivalent_Unified_Ideograph of the CJK Radicals Supplement, which normalisation leaves alone:
// https://www.unicode.org/Public/UCD/latest/ucd/EquivalentUnifiedIdeograph.txt
const radicals =
  "⺁⺂⺃⺄⺅⺆⺇⺈⺉⺊⺋⺌⺍⺎⺏⺐⺑⺒⺓⺔⺕⺖⺗⺘⺙⺛⺜⺝⺞⺟⺠⺡⺢⺣⺤⺥⺦⺧⺨⺩⺪⺫⺬⺭⺮⺯⺰⺱⺲⺳⺴⺵⺶⺷⺸⺹⺺⺻⺼⺽⺾⺿⻀⻁⻂⻃⻄⻅⻆⻇⻈⻉⻊⻋⻌⻍⻎⻏⻐⻑⻒⻓⻔⻕⻖⻗⻘⻙⻚⻛⻜⻝⻞⻟⻠⻡⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳";
const ideographs =
  "厂乛乚乙亻冂𠘨刀刂卜㔾小小兀尣尢𡯂巳幺彑彐忄心扌攵旡日月歺母民氵氺灬爫爫丬牛犭王𤴔目示礻𥫗糹纟罓罒㓁冗𦉫羊𦍌𦍋耂肀聿肉𦥑艹艹艹虎衤覀西见角𧢲讠贝𧾷车辶辶辶邑钅長镸长门𨸏阝雨青韦页风飞食𩙿飠饣𩠐马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟";

const unified: ReadonlyMap<string, string> = (() => {
  const targets = Array.from(ideographs);
  return new Map(Array.from(radicals, (radical, index) => [radical, targets[index]!]));
})();

/** Radicals, compatibility ideographs, Latin ligatures, and shaped Arabic and Hebrew. */
const disguised = /[\u2e80-\u2fd5\uf900-\ufaff\ufb00-\ufdff\ufe70-\ufefc]/gu;
/** Controls, soft hyphens, zero-width spaces, byte order marks, and placeholders for glyphs without a character. */
const invisible = /(?![\t\n])[\p{Cc}\p{Co}\u00ad\u200b\u2060\ufeff\ufffe\uffff]/gu;
/** Bullets of the symbol fonts, whose glyphs are at characters of private use. */
const symbolBullet = /[\uf06c\uf06e\uf0a7\uf0b7\uf0d8\uf0fc]/gu;
/** The article with a hamza letter: no Arabic word has an alif before one, so this is a ligature read backwards. */
const reversedLigature = /ا([أإآ])ل/gu;

/** Replaces glyph variants by the characters that a reader would type. */
export function plainCharacters(text: string): string {
  return text
    .replace(symbolBullet, "•")
    .replace(invisible, "")
    .replace(disguised, (character) => unified.get(character) ?? character.normalize("NFKC"))
    .replace(reversedLigature, "ال$1");
}
