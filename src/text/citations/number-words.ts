/** Words of which one language, that separates them by spaces, makes numbers. */
interface NumberLanguage {
  readonly words: ReadonlySet<string>;
  /** Words that join the words of one number: "one hundred and five", "vingt et un". */
  readonly links: ReadonlySet<string>;
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.normalize("NFKD").split(" "));

function language(words: string, links: string): NumberLanguage {
  return { words: setOf(words), links: setOf(links) };
}

const english = language(
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen " +
    "twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million millions billion billions " +
    "trillion trillions dozen dozens half halves quarter third thirds quarters fifths tenth tenths hundredth hundredths point",
  "and",
);

const languages: readonly NumberLanguage[] = [
  english,
  language(
    "null eins ein eine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig " +
      "neunzig hundert tausend million millionen milliarde milliarden dutzend halb halbe komma",
    "und",
  ),
  language(
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt vingts trente quarante cinquante " +
      "soixante cent cents mille million millions milliard milliards demi demie virgule",
    "et",
  ),
  language(
    "uno un dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa " +
      "cien ciento doscientos trescientos cuatrocientos quinientos seiscientos mil millón millones medio media coma",
    "y",
  ),
  language(
    "uno un due tre quattro cinque sei sette otto nove dieci undici dodici venti trenta quaranta cinquanta sessanta settanta ottanta " +
      "novanta cento mila mille milione milioni mezzo virgola",
    "e",
  ),
  language(
    "um dois três quatro cinco seis sete oito nove dez onze doze vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem " +
      "cento duzentos trezentos quinhentos mil milhão milhões meia vírgula",
    "e",
  ),
  language(
    "een twee drie vier vijf zes zeven acht negen tien elf twaalf twintig dertig veertig vijftig zestig honderd duizend miljoen miljard half",
    "en",
  ),
  language(
    "один два три четыре пять шесть семь восемь девять десять двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят " +
      "девяносто сто двести триста четыреста пятьсот тысяча тысячи тысяч миллион миллиона миллионов",
    "и",
  ),
  language(
    "ένα δύο τρία τέσσερα πέντε έξι επτά εφτά οκτώ οχτώ εννέα εννιά δέκα έντεκα δώδεκα είκοσι τριάντα σαράντα πενήντα εξήντα " +
      "εβδομήντα ογδόντα ενενήντα εκατό εκατόν διακόσια τριακόσια χίλια χίλιες χιλιάδες εκατομμύρια",
    "και",
  ),
  language(
    "bir iki üç dört beş altı yedi sekiz dokuz on yirmi otuz kırk elli altmış yetmiş seksen doksan yüz bin milyon milyar buçuk",
    "virgül",
  ),
  language(
    "jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć dwadzieścia trzydzieści czterdzieści pięćdziesiąt sto dwieście " +
      "tysiąc tysięcy milion milionów",
    "i",
  ),
  language(
    "satu dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas belas puluh ratus seratus ribu seribu juta",
    "koma",
  ),
  language("một hai ba bốn năm sáu bảy tám chín mười mươi trăm nghìn ngàn triệu rưỡi", "lẻ"),
  language(
    "واحد اثنان اثنا ثلاثة ثلاث أربعة أربع خمسة خمس ستة ست سبعة سبع ثمانية تسعة تسع عشرة عشر عشرون ثلاثون أربعون خمسون ستون سبعون " +
      "ثمانون تسعون مائة مئة مئتان ألف آلاف مليون نصف",
    "و",
  ),
  language("एक दो तीन चार पाँच पांच छह सात आठ नौ दस बीस तीस चालीस पचास सौ हज़ार हजार लाख करोड़ आधा साढ़े", "और"),
];

/** Words that turn the number behind them around. */
const negative = setOf("minus negative moins menos meno минус eksi μείον");

/** Words that may stand between digits and what they count, and belong to the digits. */
const scales = setOf(
  "percent per prozent pour por cento procent процент процента процентов τοις yüzde permille promille hundred thousand million millions " +
    "billion billions trillion trillions dozen hundert tausend millionen milliarde milliarden mille milliards mil millones milioni " +
    "milhões miljoen miljard тысяч тысячи миллион миллиона миллионов χιλιάδες εκατομμύρια bin milyon milyar tysięcy milionów ribu juta " +
    "nghìn triệu ألف مليون हजार लाख करोड़",
);

/** Whether one word, by its form, makes a number with the one before it. */
export function makeNumber(before: string, form: string): boolean {
  return languages.some(({ words }) => words.has(before) && words.has(form));
}

/** Whether a word joins the number words on either side of it. "One and two" are two numbers, "one hundred and two" is one. */
export function linksNumbers(before: string, link: string, form: string): boolean {
  return languages.some(
    ({ words, links }) =>
      links.has(link) &&
      words.has(form) &&
      words.has(before) &&
      (words !== english.words ||
        /^(?:hundred|thousand|[mb]illion)s?$/u.test(before) ||
        /^(?:half|quarter|third)s?$/u.test(form)),
  );
}

export function isEnglishNumber(form: string): boolean {
  return english.words.has(form);
}

export function isNumberWord(form: string): boolean {
  return languages.some(({ words }) => words.has(form));
}

/** Whether a word, by its form, belongs to the digits before it. */
export function scalesNumber(form: string): boolean {
  return scales.has(form);
}

/** Whether a word for a share, such as percent, belongs to the number word before it. */
export function isShare(form: string): boolean {
  return /^(?:percent|per|prozent|pour|procent|процент(?:а|ов)?|permille|promille)$/u.test(form);
}

export function isNegativeWord(form: string): boolean {
  return negative.has(form);
}

const symbolOfUnit =
  /^(?:[YZEPTGMkhdcmnpfuµμ]?(?:m|g|s|K|mol|cd|Hz|N|Pa|J|W|Wh|V|VA|F|Ω|lm|lx|Bq|Gy|Sv|L|l|bar|eV|bit|cal|Ah|mHg)|(?:[KMGTPkm]i?)?[Bb](?:ps|\/s)?|mA|kA|µA|°?[CF]|min|h|rpm|ppm|ppb|mph|kph|psi|lbs?|oz|ft|yd|IU|IE|UI|px|pt|rem|fps|dB|dBm|dBA|ha|kWp)(?:[²³]|[23])?$/u;

/** Whether a word, as it is written, is the symbol of a unit behind a number. */
export function isUnitSymbol(written: string): boolean {
  return symbolOfUnit.test(written);
}

const numeral = "〇零一二三四五六七八九十百千万萬亿億兆两兩廿卅壹贰貳叁參肆伍陆陸柒捌玖拾佰仟半几幾";
const fraction = "(?:百|千|万|萬|[一二三四五六七八九十]+)?分[之の]";

/** Numbers in characters of Chinese and Japanese with all that belongs to them: 百分之十五, 零下五, 第十, 三点五, 二十几. */
export const hanNumber = `(?:[负負第]|零下|(?:${fraction}))*[${numeral}](?:[${numeral}]|[点點又](?=[${numeral}])|分[之の](?=[${numeral}\\p{Nd}])|[多余餘](?=[天日年月周个個人元名次小]))*`;
/** Characters that may stand before digits. */
export const hanNumberStart = `(?:[负負第]|零下|${fraction}|[${numeral}]+分[之の])`;
/** Characters that may stand behind digits. */
export const hanNumberEnd = `[十百千万萬亿億兆]+`;

const measure =
  /^[天日年月周週个個小时時分秒元块塊圆圓次倍条條人名位岁歲度米公克斤吨噸里级級层層页頁章季件台套项項户戶亩份期种種%％円歳回本枚時]/u;

/** Whether a character measures the number in characters before it. */
export function isMeasure(character: string): boolean {
  return measure.test(character);
}

const thaiNumerals = "ศูนย์|หนึ่ง|เอ็ด|สอง|ยี่|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ|ร้อย|พัน|หมื่น|แสน|ล้าน";
export const thaiNumber = `(?:${thaiNumerals})(?:${thaiNumerals}|จุด|ครึ่ง)*`;
