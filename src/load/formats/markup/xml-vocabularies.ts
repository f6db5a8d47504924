/** How the elements of a vocabulary become those of HTML. Others are read through: their content counts. */
export interface XmlVocabulary {
  /** Elements whose title is a heading, one level deeper than that of the section around. */
  readonly sections: ReadonlySet<string>;
  /** Elements whose content is no text of the document. */
  readonly silent: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, string>;
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));
const named = (names: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(names).flatMap(([html, own]) => own.split(" ").map((name) => [name, html] as const)));

/** Tables in the model of CALS, which both vocabularies have. */
const tables = {
  table: "tgroup simpletable properties choicetable",
  tr: "row sthead strow prophead property chhead chrow",
  td: "entry stentry proptype propvalue propdesc proptypehd propvaluehd propdeschd choption chdesc choptionhd chdeschd",
};

export const docbook: XmlVocabulary = {
  sections: set(
    "set book part reference chapter article appendix preface colophon dedication glossary bibliography section sect1 sect2 sect3 sect4 sect5 simplesect refentry refsection refsect1 refsect2 refsect3 refsynopsisdiv partintro topic",
  ),
  silent: set(
    "indexterm index toc lot remark xi:include include colspec spanspec xref anchor imagedata videodata audiodata refmeta revhistory authorgroup author editor copyright legalnotice pubdate releaseinfo date keywordset subjectset edition volumenum issuenum biblioid orgname publisher titleabbrev",
  ),
  names: named({
    p: "para simpara formalpara refpurpose refname attribution caption subtitle",
    ul: "itemizedlist simplelist segmentedlist",
    ol: "orderedlist procedure substeps qandaset",
    li: "listitem member step qandaentry callout",
    dl: "variablelist glosslist",
    dt: "term",
    dd: "glossdef",
    pre: "programlisting screen literallayout synopsis programlistingco screenco address funcsynopsisinfo",
    code: "code literal command filename option varname classname methodname function parameter userinput computeroutput constant type envar systemitem tag sgmltag property prompt interfacename structname package token markup uri",
    blockquote: "blockquote epigraph",
    sup: "superscript",
    a: "link ulink",
    ...tables,
  }),
};

export const dita: XmlVocabulary = {
  sections: set(
    "topic concept task reference troubleshooting glossentry glossgroup map bookmap section example refsyn tasktroubleshooting condition cause remedy bookpart",
  ),
  silent: set(
    "prolog related-links indexterm colspec draft-comment required-cleanup data data-about unknown foreign titlealts object param reltable",
  ),
  names: named({
    p: "p shortdesc lq note hazardstatement cmd info stepresult stepxmp tutorialinfo context result prereq postreq glossdef title navtitle booktitle mainbooktitle booklibrary",
    ul: "ul sl choices steps-unordered",
    ol: "ol steps substeps",
    li: "li sli step substep choice stepsection",
    dl: "dl parml",
    dt: "dt pt",
    dd: "dd pd",
    pre: "codeblock pre screen msgblock lines syntaxdiagram",
    code: "codeph filepath cmdname varname userinput systemoutput apiname option parmname synph msgph msgnum xmlelement xmlatt",
    sup: "sup",
    a: "xref link",
    ...tables,
  }),
};
