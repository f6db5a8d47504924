import type { WireCitation, WireConsidered } from "../../../api/wire.js";
import { isSlides } from "./slides.js";
import { clockTime } from "./clock-time.js";

/** How many different quotations were checked, and with which results. */
export interface QuotationCounts {
  readonly total: number;
  readonly found: number;
  readonly near: number;
  readonly struckOut: number;
  /** Words of a model about a picture. */
  readonly described: number;
  readonly missing: number;
}

/** Everything the page says, in English. The type of every other language is that of this object. */
export const english = {
  language: "English",
  skipToQuestion: "Skip to the question field",
  close: "Close",
  cancel: "Cancel",
  dismiss: "Dismiss",
  tryAgain: "Try again",
  more: "Show more",
  loading: "Loading…",
  connectionLost: "The server cannot be reached; reconnecting… If it is still running, nothing of the answer is lost.",
  actionFailed: (message: string) => `That did not work: ${message}`,

  conversations: "Conversations",
  noConversations: "Your questions will be kept here.",
  newConversation: "New conversation",
  searchConversations: "Search conversations",
  noConversationFound: "No conversation has these words in its title.",
  ages: { pinned: "Pinned", today: "Today", yesterday: "Yesterday", week: "Last 7 days", older: "Older" },
  pin: (title: string) => `Pin “${title}”`,
  find: "Find",
  findKeys: "Ctrl K",
  paletteTitle: "Find conversations, documents and passages",
  palettePlaceholder: "Conversations, documents, passages…",
  askThis: (question: string) => `Ask: ${question}`,
  shortcuts: "Keyboard shortcuts",
  shortcutList: [
    ["Ctrl K", "Find conversations, documents and passages"],
    ["Ctrl Shift O", "New conversation"],
    ["Enter", "Send the question"],
    ["Shift Enter", "New line in the question"],
    ["Esc", "Stop the answer, or close what is open"],
    ["?", "This list"],
  ],
  openMenu: "Open the menu",
  rename: (title: string) => `Rename “${title}”`,
  newName: "New name",
  save: "Save",
  deleteConversation: (title: string) => `Delete “${title}”`,
  deleteConversationQuestion: "Delete this conversation?",
  deleteConversationExplained: (title: string) => `“${title}” and all its answers will be gone for good.`,
  delete: "Delete",
  waitsForYou: "waits for your approval",
  conversationMissing: "There is no such conversation. It may have been deleted.",

  answerSettings: "Settings of answers",
  answerSettingsExplained: "They hold for your next questions, in this browser.",
  chatModel: "Chat model",
  passagesToAnswerFrom: "Passages to answer from",
  ownInstructions: "Your instructions",
  ownInstructionsPlaceholder: "Such as: answer in three sentences.",
  usual: "As usual",
  allAsUsual: "All as usual",

  appearance: "Appearance",
  themes: { system: "System", light: "Light", dark: "Dark" },
  languageLabel: "Language",

  signIn: "Sign in",
  signInExplained: "This collection is protected. Sign in with your account.",
  token: "Access token",
  tokenExplained: "This collection is protected. Enter the token that you were given.",
  tokenRefused: "This token is not accepted.",

  askTitle: (title: string) => `Ask ${title}`,
  askExplained: (documents: number) =>
    documents === 1
      ? "Answers come from 1 document, and every quotation is checked against it."
      : `Answers come from ${documents.toLocaleString("en")} documents, and every quotation is checked against them.`,
  emptyTitle: "There is nothing to ask yet",
  emptyMayUpload: "Drop files anywhere on this page, or choose some, and ask about them.",
  emptyMayNotUpload: "The collection holds no documents yet.",
  examplesLabel: "Example questions",
  aboutTitle: (title: string) => `What is “${title}” about?`,

  question: "Your question",
  questionPlaceholder: "Ask about your documents",
  keysExplained: "Enter sends, Shift+Enter begins a new line",
  send: "Send",
  stop: "Stop",
  addFiles: "Add files",
  addPictures: "Add pictures to the question",
  questionPictures: "Pictures of the question",
  pictureOfQuestion: (number: number) => `Picture ${number} of the question`,
  removePicture: (name: string) => `Take ${name} out`,
  picturesLeft: (names: string) =>
    `Not taken, as a question has at most 4 pictures, and these must be pictures: ${names}`,
  askingWithin: (documents: number) =>
    documents === 1 ? "Asking within 1 document" : `Asking within ${documents} documents`,
  askEverything: "Ask all documents",

  you: "You asked:",
  editQuestion: "Edit the question",
  editExplained: "Asks it in a new conversation; this one stays as it is.",
  searching: "Searching the documents…",
  reading: (passages: number) => (passages === 1 ? "Reading 1 passage…" : `Reading ${passages} passages…`),
  writing: "The answer is being written.",
  thinking: "Reasoning of the model",
  stopped: "Stopped. This is the answer as far as it came.",
  stoppedEmpty: "Stopped before anything was written.",
  unanswered: "The documents do not seem to hold the answer.",
  nearest: "Nearest passages",
  askAbout: "You can ask about:",
  noModel: "No chat model is connected: answers are the nearest passages, word for word.",
  connectModel: "Start the server with a model to get answers in sentences, each with its source:",
  contractService: "Another service",
  claims: ({ missing, near, uncited }: { missing: number; near: number; uncited: number }) =>
    `${[
      missing > 0 &&
        (missing === 1 ? "1 quotation is not in its source" : `${missing} quotations are not in their sources`),
      near > 0 &&
        (near === 1
          ? "1 quotation is in its source in other words only"
          : `${near} quotations are in their sources in other words only`),
      uncited > 0 && (uncited === 1 ? "1 sentence cites no source" : `${uncited} sentences cite no source`),
    ]
      .filter(Boolean)
      .join("; ")}. The places are underlined.`,
  noAnswer: "This question has no answer.",
  remarks: (count: number) => `Remarks on this answer (${count})`,
  answerDone: "The answer is complete.",
  copy: "Copy",
  copied: "Copied",
  copyCode: "Copy code",
  helpful: "This answer helped",
  notHelpful: "This answer did not help",
  note: "What was right or wrong? (optional)",
  sendNote: "Send the note",
  foundInDocument: "found in the document, word for word",
  regenerate: "Answer again",
  toLatest: "To the latest words",

  export: "Export",
  share: "Share…",
  copyConversation: "Copy the conversation",
  exportMarkdown: "As Markdown",
  exportHtml: "As a web page",
  exportPrint: "Print, or save as PDF",

  sources: "Sources",
  quotationsFound: ({ total, found, near, struckOut, described, missing }: QuotationCounts) =>
    [
      `${found} of ${total} found in the sources`,
      described > 0 && `${described} in a model's description of a picture`,
      near > 0 && `${near} in slightly different words`,
      struckOut > 0 && `${struckOut} struck out`,
      missing > 0 && `${missing} not found`,
    ]
      .filter(Boolean)
      .join(", "),
  openSource: (number: number, title: string) => `Source ${number}: ${title}`,
  supportNote: ({ support, struckOut, picture }: Pick<WireCitation, "support" | "struckOut" | "picture">): string =>
    struckOut
      ? "struck out in the document"
      : support === "near"
        ? "slightly different words in the document"
        : support === "missing"
          ? "not found in the document"
          : picture
            ? "in a model's description of a picture, not the document's own words"
            : "",
  place: ({ uri, page, line, seconds, picture }: Pick<WireCitation, "uri" | "page" | "line" | "seconds" | "picture">) =>
    [
      page !== undefined && `${isSlides(uri) ? "slide" : "page"} ${page}`,
      line !== undefined && `line ${line}`,
      seconds !== undefined && `at ${clockTime(seconds)}`,
      picture && `from a picture, described by ${picture.describedBy}`,
    ]
      .filter(Boolean)
      .join(", "),
  pictureAlt: "The picture that the cited words describe",
  openPicture: "Open the picture",
  describedBy: (model: string) => `The words about this picture are those of ${model}, not of the document.`,
  pageBreak: (page: number) => `Page ${page}`,
  slide: (slide: number) => `Slide ${slide}`,
  output: "Output",
  rowNumber: "Row",
  mailFields: { from: "From", to: "To", cc: "Cc", date: "Date", subject: "Subject", attachments: "Attachments" },
  unsupportedTitle: "These words are not in the document",
  unsupportedExplained: "The answer claims this quotation, but the document does not hold it at this place:",
  nearTitle: "Slightly different words in the document",
  nearExplained: "The document's own words are highlighted. The answer quotes them as:",
  struckOutTitle: "Struck out in the document",
  struckOutExplained: "The document holds these words, but has struck them out where they are highlighted:",
  askAboutThis: "Ask about this",
  properties: "Properties",
  restOfSentence: "The rest of the sentence",
  showBefore: "Show more above",
  showAfter: "Show more below",
  previousSource: "Previous source",
  nextSource: "Next source",
  showText: "Text",
  showPages: "Pages",
  pdfPages: "Pages of the document",
  pdfToolbar: "Pages, zoom and search",
  pdfFailed: "The pages cannot be shown. This is the text that was read from them.",
  pdfElsewhere: "The original is kept elsewhere and can be opened there. This is the text that was read from it.",
  pdfNotBoxed: "This page holds the words, but as a picture or in another order, so that they cannot be boxed.",
  previousPage: "Previous page",
  nextPage: "Next page",
  pageNumber: "Page",
  zoomIn: "Enlarge",
  zoomOut: "Reduce",
  fitWidth: "Fit the width",
  searchInDocument: "Search in the document",
  notFoundInDocument: "Not found",
  openOriginal: "Open the original",
  sourceFailed: "The document could not be opened.",

  searchedFor: (question: string) => `Searched for: ${question}`,
  considered: (passages: number) => `What was looked at (${passages})`,
  lookAgain: "What was looked at",
  lookedAgain: "Searched anew just now: the answer itself may have been made from other passages.",
  kept: "Shown to the model",
  dropped: "Left out",
  rankBy: ({ by, rank }: WireConsidered["ranks"][number]) =>
    `${by === "words" ? "words" : by === "meaning" ? "meaning" : "another search"} #${rank}`,
  verdicts: {
    shown: "",
    low: "Others match the question better.",
    "same-text": "Another passage has the same text.",
    "reranked-low": "Reranking put others before it.",
    alike: "It adds little to those that are shown.",
    merged: "It is part of a passage that is shown.",
    "no-room": "There was no room for it.",
    other: "A later step left it out.",
  } satisfies Record<WireConsidered["verdict"], string> as Readonly<Record<WireConsidered["verdict"], string>>,

  approvalTitle: "Allow this tool to run?",
  approvalExplained: (name: string) => `The model wants to call ${name} with:`,
  approvalUntrusted:
    "The model had read documents before it asked for this, and text in documents can try to steer it. Check the arguments.",
  allow: "Allow",
  refuse: "Refuse",
  toolRuns: (name: string) => `Calling ${name}…`,
  toolRan: (name: string) => `Called ${name}`,
  toolFailed: (name: string) => `${name} failed`,
  toolRefused: (name: string) => `${name} was refused`,
  toolInput: "Arguments",
  toolOutput: "Result",

  failed: "The answer could not be made",
  failures: {
    network: "The model service cannot be reached.",
    timeout: "The model service took too long.",
    "rate-limited": "The model service is busy and asks for a pause.",
    upstream: "The model service reports a failure of its own.",
    truncated: "The model service broke off in the middle of the answer.",
    unauthorized: "The model service does not accept the key it was given.",
    forbidden: "The model service does not allow this.",
    "context-length": "The conversation has become too long for the model. Begin a new one.",
    busy: "Another answer of this conversation is still being made.",
    interrupted: "The server ended before the answer was complete. This is the answer as far as it came.",
    offline: "The server cannot be reached.",
  } as Readonly<Record<string, string>>,
  failureOfOtherKind: "The server cannot answer this question.",
  failureDetails: "Details",

  documents: "Documents",
  documentsCount: (documents: number) =>
    documents === 1 ? "1 document" : `${documents.toLocaleString("en")} documents`,
  documentsFound: (documents: number) => (documents === 1 ? "1 found" : `${documents.toLocaleString("en")} found`),
  searchDocuments: "Search titles and addresses",
  folders: "Folders",
  folderUp: "To the folder above",
  kind: "Kind of documents",
  allKinds: "All kinds",
  kindCount: (kind: string, documents: number) => `${kind} (${documents.toLocaleString("en")})`,
  sort: "Order",
  sorts: { address: "By place", title: "By title", passages: "Longest first" },
  chooseListed: (documents: number) => `Tick all ${documents}`,
  inTheText: "In the text",
  noDocumentsFound: "No document matches.",
  passages: (passages: number) => (passages === 1 ? "1 passage" : `${passages.toLocaleString("en")} passages`),
  openDocument: (title: string) => `Open “${title}”`,
  chooseDocument: (title: string) => `Ask only within “${title}”`,
  chooseExplained: "Tick documents to ask only within them.",
  deleteDocument: (title: string) => `Delete “${title}”`,
  deleteChosen: (documents: number) => `Delete the ${documents} chosen`,
  deleteChosenQuestion: (documents: number) => `Delete ${documents} documents?`,
  deleteChosenExplained: "They are removed from the collection, and earlier answers can no longer open them.",
  deleteDocumentQuestion: "Delete this document?",
  deleteDocumentExplained: (title: string) =>
    `“${title}” will be taken out of the collection. Earlier answers can no longer open it.`,
  askNow: "Ask about them",

  uploads: "Uploaded files",
  dropHere: "Drop the files to add them",
  uploadLimits: (endings: string, size: string) => `${endings} and other text formats, up to ${size} each`,
  uploading: (percent: number) => `Sending, ${percent} %`,
  uploadStates: { waiting: "Waiting", reading: "Reading", done: "Ready", failed: "Failed" },
  uploadTooLarge: (limit: string) => `The file is larger than ${limit}.`,
  uploadOfOtherKind: (endings: string) =>
    `Files of this kind cannot be read. These can: ${endings} and other text formats.`,
  uploadBroken: "The connection broke while the file was sent.",
  retry: "Try again",
  remove: "Remove",
  retryFile: (name: string) => `Try ${name} again`,
  removeFile: (name: string) => `Remove ${name}`,
};
