/** A question of somebody who has never seen citewell, and the page whose sample answers it. */
export interface SiteQuestion {
  readonly question: string;
  /** Address of the page in the site, without ending. */
  readonly page: string;
}

/** Written down before the site was searched for them. `test/site/questions.test.ts` finds each page among the first three. */
export const siteQuestions: readonly SiteQuestion[] = [
  { question: "How do I use my own model from OpenAI or Ollama?", page: "start/own-model" },
  { question: "How do I limit a search to the documents of one tenant?", page: "guides/tenants" },
  { question: "How do I set a budget for indexing?", page: "guides/budget" },
  { question: "How do I resume indexing after it was interrupted?", page: "guides/budget" },
  { question: "How do I write a custom stage of a pipeline?", page: "guides/own-parts" },
  { question: "How does a tool wait for approval before it writes?", page: "answers/tools" },
  { question: "Which page of a PDF does a citation point to?", page: "answers/citations" },
  { question: "How do I show citations in a React page?", page: "guides/react-page" },
  { question: "How do I fail CI when search gets worse?", page: "guides/evaluation" },
  { question: "What does the error code space mean?", page: "reference/errors" },
  { question: "How do I filter by metadata such as year and product?", page: "answers/filters" },
  { question: "How large should chunks be?", page: "documents/chunks" },
  { question: "How do I read text in scanned documents?", page: "documents/ocr" },
  { question: "How do I index a website with its sitemap?", page: "documents/crawling" },
  { question: "How do I index an S3 bucket?", page: "documents/s3-and-git" },
  { question: "How do I ask questions over HTTP with curl?", page: "server/http-api" },
  { question: "How do I mount the handler in Express?", page: "guides/mounting" },
  { question: "How do I use it in a route of Next.js?", page: "guides/next-route" },
  { question: "How do I store documents in PostgreSQL with pgvector?", page: "guides/postgres" },
  { question: "How do I change the embedding model of an existing store?", page: "production/choosing-a-model" },
  { question: "How do I change the instructions in the prompt?", page: "answers/prompts" },
  { question: "Why is a passage not found by a search?", page: "answers/ranking" },
  { question: "How do I rewrite questions with hyde or multiQuery?", page: "answers/rewriting" },
  { question: "Which file formats can be read?", page: "documents/formats" },
  { question: "How do I run it in a Docker container?", page: "guides/deploying" },
  { question: "How do I back up and restore a store?", page: "guides/deploying" },
  { question: "How do people sign in with OpenID Connect?", page: "guides/sign-in" },
  { question: "How do I get traces and metrics with OpenTelemetry?", page: "guides/telemetry" },
  { question: "Which environment variables and settings are there?", page: "reference/settings" },
  { question: "How do I connect an editor or agent by MCP?", page: "guides/mcp" },
  { question: "How do I delete a document, and what is left of it?", page: "documents/deleting" },
  { question: "How do readers rate answers with thumbs?", page: "guides/chatbot" },
  { question: "What does one question cost?", page: "production/costs" },
  { question: "How do I get an answer as JSON with a schema?", page: "answers/values" },
  { question: "What happens to columns of a CSV file that I do not name?", page: "documents/tables" },
  { question: "How do I index only some files of a folder?", page: "start/own-documents" },
  { question: "How do I keep the index up to date while files change?", page: "start/own-documents" },
  { question: "How do I approve a tool call later from another process?", page: "answers/approval" },
  { question: "How do I test my app offline without calling the service?", page: "production/tests-of-your-app" },
  { question: "How do I write my own reranker?", page: "guides/own-parts" },
  { question: "How do I move a store from a folder to PostgreSQL?", page: "guides/postgres" },
  { question: "How do I cancel an answer that is being streamed?", page: "guides/chatbot" },
  { question: "How do I make all answers come in German?", page: "answers/prompts" },
];
