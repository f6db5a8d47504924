/** A part of the site, in the order in which a reader needs them, with the addresses of its pages. */
export interface Part {
  readonly title: string;
  readonly pages: readonly string[];
}

/** The order of the site. A page that no part names stands in the reference of the API or among the programs. */
export const contents: readonly Part[] = [
  {
    title: "Start",
    pages: [
      "start/what-it-is",
      "start/five-minutes",
      "start/own-model",
      "guides/services",
      "start/own-documents",
      "start/can-it",
    ],
  },
  {
    title: "Documents",
    pages: [
      "documents/formats",
      "documents/tables",
      "documents/databases",
      "documents/chunks",
      "documents/crawling",
      "documents/s3-and-git",
      "documents/deleting",
      "documents/ocr",
      "guides/pictures",
    ],
  },
  {
    title: "Answers one can trust",
    pages: [
      "answers/ranking",
      "answers/filters",
      "answers/rewriting",
      "answers/prompts",
      "answers/citations",
      "answers/values",
      "answers/tools",
      "answers/approval",
      "guides/evaluation",
      "guides/tuning",
    ],
  },
  {
    title: "A chatbot for others",
    pages: [
      "guides/chatbot",
      "server/http-api",
      "server/own-page",
      "guides/mounting",
      "guides/next-route",
      "guides/react-page",
      "guides/ai-sdk",
      "guides/langchain",
      "guides/mcp",
      "guides/sign-in",
      "guides/tenants",
      "guides/video",
    ],
  },
  {
    title: "In production",
    pages: [
      "production/sizing",
      "production/costs",
      "guides/budget",
      "production/choosing-a-model",
      "production/tests-of-your-app",
      "guides/deploying",
      "guides/operating",
      "guides/telemetry",
      "guides/security",
      "guides/upgrading",
      "production/troubleshooting",
    ],
  },
  { title: "When one machine is not enough", pages: ["guides/postgres", "guides/postgres/cluster"] },
  {
    title: "Extending it",
    pages: ["extending/pipelines", "guides/own-parts", "extending/transport", "extending/local-service"],
  },
  {
    title: "Reference",
    pages: [
      "reference/command-line",
      "reference/settings",
      "reference/optional-packages",
      "reference/errors",
      "reference/api/index",
      "reference/contract",
      "reference/promises",
      "reference/benchmarks",
      "reference/testing",
      "reference/decisions",
      "reference/contributing",
      "reference/changes",
      "guides/all",
      "guides/coming-from",
    ],
  },
];
