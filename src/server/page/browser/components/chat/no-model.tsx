import { usePage } from "../../state/page.js";

/** Command for each kind of service; the names of its models are examples. */
const settings = [
  ["Ollama", "citewell serve --service ollama --chat-model qwen3:8b"],
  ["OpenAI", "CITEWELL_API_KEY=… citewell serve --service openai --chat-model gpt-5-mini"],
  [undefined, "CITEWELL_API_KEY=… citewell serve --base-url https://… --chat-model …"],
] as const;

/** A bar that says that answers are passages alone, and how a chat model is connected. */
export function NoModel() {
  const { preferences, status } = usePage();
  const words = preferences.words.value;
  if (status.value?.chatModel !== false) return null;
  return (
    <details class="no-model">
      <summary>{words.noModel}</summary>
      <p>{words.connectModel}</p>
      <dl>
        {settings.map(([service = words.contractService, command]) => [
          <dt key={service}>{service}</dt>,
          <dd key={command}>
            <code>{command}</code>
          </dd>,
        ])}
      </dl>
    </details>
  );
}
