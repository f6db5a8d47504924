const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** Levels of the headings that macros make. */
export const headings: ReadonlyMap<string, number> = new Map([
  ["part", 1],
  ["chapter", 1],
  ["section", 2],
  ["subsection", 3],
  ["subsubsection", 4],
  ["paragraph", 5],
  ["subparagraph", 6],
  ["frametitle", 2],
  ["framesubtitle", 3],
]);

export const codeMacros = set("texttt code url path mintinline file command lstinline nolinkurl");
export const verbatimEnvironments = set(
  "verbatim verbatim* Verbatim BVerbatim lstlisting minted minted* alltt Highlighting code pyglist",
);
export const mathEnvironments = set(
  "math displaymath equation equation* align align* aligned gather gather* multline multline* eqnarray eqnarray* flalign flalign* alignat alignat*",
);

/** Macros whose arguments are no words, with their number. */
export const silentMacros: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0: "hline toprule midrule bottomrule centering noindent small footnotesize large Large tableofcontents appendix endhead endfirsthead endfoot endlastfoot raggedright sloppy frontmatter mainmatter backmatter printbibliography printindex listoffigures listoftables protect itshape bfseries ttfamily normalfont hfill vfill selectlanguage cleardoublepage",
    1: "textcolor colorbox raisebox label index documentclass usepackage RequirePackage input include includeonly includegraphics bibliography bibliographystyle vspace hspace pagestyle thispagestyle hypersetup geometry graphicspath lstset color cline cmidrule usetikzlibrary PassOptionsToPackage date thanks phantomsection hypertarget vphantom phantom hphantom addbibresource usetheme usecolortheme InputIfFileExists lstinputlisting verbatiminput subfile import write openin read pagenumbering setmainfont setmonofont microtypesetup theoremstyle bibitem columnwidth tag allowdisplaybreaks",
    2: "setlength addtolength setcounter addtocounter newtheorem DeclareMathOperator definecolor let setbeamertemplate addcontentsline rule    renewenvironment fontsize  inputminted",
    3: "newenvironment titleformat titlespacing newglossaryentry newacronym",
  }).flatMap(([count, names]) => names.split(" ").map((name) => [name, Number(count)] as const)),
);

/** Letters and signs by the macros that stand for them. */
export const symbols: ReadonlyMap<string, string> = new Map(
  Object.entries({
    LaTeX: "LaTeX",
    TeX: "TeX",
    LaTeXe: "LaTeX2e",
    BibTeX: "BibTeX",
    XeTeX: "XeTeX",
    ldots: "…",
    dots: "…",
    textellipsis: "…",
    textbackslash: "\\",
    textasciitilde: "~",
    textasciicircum: "^",
    textunderscore: "_",
    textbar: "|",
    textless: "<",
    textgreater: ">",
    textdegree: "°",
    textendash: "–",
    textemdash: "—",
    textquotesingle: "'",
    textbullet: "•",
    textregistered: "®",
    texttrademark: "™",
    copyright: "©",
    pounds: "£",
    euro: "€",
    S: "§",
    P: "¶",
    dag: "†",
    ss: "ß",
    ae: "æ",
    AE: "Æ",
    oe: "œ",
    OE: "Œ",
    aa: "å",
    AA: "Å",
    o: "ø",
    O: "Ø",
    l: "ł",
    L: "Ł",
    i: "ı",
    quad: " ",
    qquad: " ",
    enspace: " ",
    thinspace: " ",
    linebreak: " ",
    newline: " ",
    today: "",
    and: ", ",
  }),
);

const combining: Readonly<Record<string, string>> = {
  "`": "\u0300",
  "'": "\u0301",
  "^": "\u0302",
  "~": "\u0303",
  '"': "\u0308",
  "=": "\u0304",
  ".": "\u0307",
  c: "\u0327",
  k: "\u0328",
  r: "\u030a",
  u: "\u0306",
  v: "\u030c",
  H: "\u030b",
  d: "\u0323",
  b: "\u0331",
};

/** The letter that an accent and what follows it make, and the length of what follows. */
export function accented(accent: string, after: string): { letter: string; length: number } | undefined {
  const mark = combining[accent];
  const found = mark === undefined ? null : /^\s*(?:\{\\?([A-Za-z]?)\}|\\?([A-Za-z]))/.exec(after);
  if (!mark || !found || (/[a-z]/i.test(accent) && !/^[\s{]/.test(after))) return undefined;
  return { letter: ((found[1] ?? found[2] ?? "") + mark).normalize("NFC"), length: found[0].length };
}

/** The start of a cell over several columns, behind the rules above its row. */
export const spanningCell =
  /^(?:\s*\\(?:hline|toprule|midrule|bottomrule|c(?:line|midrule)(?:\([^()]{0,20}\))?\{[^{}]{0,20}\}|rowcolor(?:\[[^\]]{0,20}\])?\{[^{}]{0,40}\}))*\s*\\multicolumn\s*\{(\d{1,3})\}/;
