import { docxFile, epubFile, odtFile, pptxFile, xlsxFile } from "../../support/office-files.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

/** A small file of one kind, and the words of it that are cited. */
export interface KindOfDocument {
  readonly file: string;
  readonly content: string | Uint8Array;
  /** Models quote them so, without markup. */
  readonly quote: string;
  /** A question that only this file is near to. */
  readonly question: string;
  /** An element that shows the words as they look, around or in which they are marked. */
  readonly within: string;
}

const rows = Array.from({ length: 900 }, (_, index) => [
  `Pump ${index}`,
  `${1000 + index} euros`,
  `shelf ${index % 40}`,
]);

const notebook = {
  cells: [
    { cell_type: "markdown", source: "# Rainfall\n\nRain in *Bergen*, measured **every day** by the harbour office." },
    {
      cell_type: "code",
      source: "total = sum(days)\nprint(total)",
      outputs: [{ text: ["2250 millimetres fell in the whole year\n"] }],
    },
    {
      cell_type: "code",
      source: "table(months)",
      outputs: [
        { data: { "text/html": "<table><tr><th>month</th><th>mm</th></tr><tr><td>May</td><td>106</td></tr></table>" } },
      ],
    },
  ],
  metadata: { language_info: { name: "python" } },
};

const mail = `From: Ada Lovelace <ada@example.com>
To: Bob <bob@example.com>
Cc: Carol <carol@example.com>
Date: Tue, 3 Mar 2026 09:30:00 +0100
Subject: The lantern festival
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/html

<p>Dear Bob,</p><p>the <b>lantern festival</b> begins on the <i>last</i> Friday of June.</p><p>Ada</p>
--b
Content-Type: text/markdown; name="route.md"
Content-Disposition: attachment; filename="route.md"

The route leads along the river.
--b--
`;

const code = `import time

def rotate_credentials(days=90):
    # Credentials are rotated by the night watch
    if days > 90 and "weekly" not in plan:
        raise ValueError("the credentials are too old")
    return time.time()
`;

/** Kinds of documents as they look beside an answer. */
export const kindsOfDocuments: readonly KindOfDocument[] = [
  {
    file: "keys.md",
    content:
      "---\nkeeper: Ada\n---\n# Keys\n\nAPI keys **expire** after `90 days`, [says](https://example.com/ada) the *keeper*.\n\n- [x] renewed\n",
    quote: "API keys expire after 90 days, says the keeper.",
    question: "When do API keys expire?",
    within: ".excerpt p strong mark",
  },
  {
    file: "gate.html",
    content:
      "<html><head><title>The gate</title></head><body><nav><a href='/'>Home</a></nav><article><h1>The gate</h1><p>The northern gate <b>opens</b> at <a href='https://example.com/six'>six</a> in the morning, and <em>closes</em> when the bell has rung twice.</p><p>Visitors wait on the bench beside the old linden tree until the porter comes.</p></article></body></html>",
    quote: "The northern gate opens at six in the morning",
    question: "When does the northern gate open?",
    within: ".excerpt p mark",
  },
  {
    file: "boiler.pdf",
    content: tinyPdf(
      [["The boiler is in the cellar."], ["The valve of the boiler is replaced after seven years."]],
      "Boiler",
    ),
    quote: "The valve of the boiler is replaced after seven years.",
    question: "When is the valve of the boiler replaced?",
    within: ".pdf-page .cited-box",
  },
  {
    file: "contract.docx",
    content: docxFile(
      `<w:p><w:r><w:t>The tenant of the orchard pays </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>twelve baskets</w:t></w:r><w:r><w:t xml:space="preserve"> of apples each autumn.</w:t></w:r></w:p>
       <w:tbl><w:tr><w:tc><w:p><w:r><w:t>Year</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Baskets</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>2026</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>12</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
    ),
    quote: "The tenant of the orchard pays twelve baskets of apples each autumn.",
    question: "What does the tenant of the orchard pay?",
    within: ".excerpt p mark",
  },
  {
    file: "harvest.pptx",
    content: pptxFile([
      ["Harvest", "An overview for the board"],
      ["Grapes", "The grapes were picked in nine days", "Nobody was hurt"],
      ["Outlook", "Next year a second press arrives"],
    ]),
    quote: "The grapes were picked in nine days",
    question: "How fast were the grapes picked?",
    within: ".excerpt .slide mark",
  },
  {
    file: "prices.xlsx",
    content: xlsxFile("Pumps", [["Article", "Price", "Place"], ...rows]),
    quote: "Pump 437 | 1437 euros | shelf 37",
    question: "What is the price of pump 437?",
    within: ".excerpt tr.cited-row mark",
  },
  {
    file: "ferries.csv",
    content: `ferry,departs,remark\nAurora,08:15,"Runs only with calm sea, says the harbour master"\nBorealis,09:45,Carries no cattle in winter\nCygnus,11:00,Turns back at the lighthouse\n`,
    quote: "Carries no cattle in winter",
    question: "Which ferry carries no cattle in winter?",
    within: ".excerpt tr.cited-row td mark",
  },
  {
    file: "festival.eml",
    content: mail,
    quote: "the lantern festival begins on the last Friday of June.",
    question: "When does the lantern festival begin?",
    within: ".excerpt p mark",
  },
  {
    file: "rainfall.ipynb",
    content: JSON.stringify(notebook),
    quote: "2250 millimetres fell in the whole year",
    question: "How many millimetres fell in the whole year?",
    within: ".excerpt .cell-output mark",
  },
  {
    file: "rotate.py",
    content: code,
    quote: "Credentials are rotated by the night watch",
    question: "Who rotates the credentials by night watch?",
    within: ".code-lines mark",
  },
  {
    file: "islands.epub",
    content: epubFile(
      "Islands",
      "<h1>The islands</h1><p>The <i>third island</i> was <b>inhabited</b> by goats alone.</p><blockquote><p>Nobody believed it.</p></blockquote>",
    ),
    quote: "The third island was inhabited by goats alone.",
    question: "Who inhabited the third island?",
    within: ".excerpt p mark",
  },
  {
    file: "minutes.odt",
    content: odtFile(
      `<text:h text:outline-level="1">Minutes</text:h><text:p>The treasurer counted <text:span>four hundred</text:span> coins twice.</text:p><text:list><text:list-item><text:p>Agreed</text:p></text:list-item></text:list>`,
    ),
    quote: "The treasurer counted four hundred coins twice.",
    question: "How many coins did the treasurer count?",
    within: ".excerpt p mark",
  },
  {
    file: "bridges.rst",
    content:
      "Bridges\n=======\n\nThe stone bridge carries **ten carts** at ``low water``, and none in a flood.\n\n.. note:: Ask first.\n",
    quote: "The stone bridge carries ten carts at low water",
    question: "How many carts does the stone bridge carry?",
    within: ".excerpt p mark",
  },
  {
    file: "proof.tex",
    content:
      "\\documentclass{article}\\begin{document}\\section{Windmills}Each windmill grinds \\emph{eighty sacks} of rye in $t = 3$ days.\n\\end{document}\n",
    quote: "Each windmill grinds eighty sacks of rye",
    question: "What does each windmill grind?",
    within: ".excerpt p mark",
  },
  {
    file: "log.txt",
    content: "08:00 the watch began\n08:30 a heron landed on the chimney of the mill\n09:00 the watch ended\n",
    quote: "a heron landed on the chimney of the mill",
    question: "What sat on the chimney of the mill?",
    within: ".excerpt mark",
  },
];
