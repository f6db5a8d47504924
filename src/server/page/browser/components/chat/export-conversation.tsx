import { useSignal } from "@preact/signals";
import { usePage } from "../../state/page.js";
import { Icon } from "../icon.js";

/** Takes the open conversation along as a file, or to paper, with the check of each quotation. */
export function ExportConversation() {
  const { act, chat, conversations, preferences, status } = usePage();
  const words = preferences.words.value;
  const isOpen = useSignal(false);
  const exchanges = chat.exchanges.value;
  if (exchanges.length === 0 || chat.running.value) return null;
  const { title = status.value?.title ?? "" } = conversations.list.value.find(({ id }) => id === chat.id.value) ?? {};

  const download = async (kind: "md" | "html") => {
    isOpen.value = false;
    const exporting = await import("../../text/conversation-export.js");
    const exported = {
      title,
      exchanges: exchanges.map(({ question, answer }) => {
        const { citations, text } = answer.value;
        return { question, text: text || words.noAnswer, citations };
      }),
    };
    const text =
      kind === "md"
        ? exporting.conversationAsMarkdown(exported, words)
        : exporting.conversationAsHtml(exported, words, document.documentElement.lang);
    save(text, `${fileName(title)}.${kind}`, kind === "md" ? "text/markdown" : "text/html");
  };
  const print = () => {
    isOpen.value = false;
    // The menu is gone before the page is laid out for paper.
    requestAnimationFrame(() => window.print());
  };
  return (
    <details
      class="export"
      open={isOpen.value}
      onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen.value) return;
        event.stopPropagation();
        isOpen.value = false;
      }}
    >
      <summary>
        <Icon name="out" />
        {words.export}
      </summary>
      <div class="menu">
        <button type="button" onClick={() => act(download("md"))}>
          {words.exportMarkdown}
        </button>
        <button type="button" onClick={() => act(download("html"))}>
          {words.exportHtml}
        </button>
        <button type="button" onClick={print}>
          {words.exportPrint}
        </button>
      </div>
    </details>
  );
}

/** A name that every file system takes. */
function fileName(title: string): string {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return name.slice(0, 80) || "conversation";
}

function save(text: string, name: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
