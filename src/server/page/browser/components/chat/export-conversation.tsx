import { useSignal } from "@preact/signals";
import { usePage } from "../../state/page.js";
import { Icon } from "../icon.js";

const mediaTypes = { md: "text/markdown", html: "text/html" } as const;

/** Takes the open conversation along as a file, to others, or to paper, with the check of each quotation. */
export function ExportConversation() {
  const { act, chat, conversations, notice, preferences, status } = usePage();
  const words = preferences.words.value;
  const isOpen = useSignal(false);
  const exchanges = chat.exchanges.value;
  if (exchanges.length === 0 || chat.running.value) return null;
  const { title = status.value?.title ?? "" } = conversations.list.value.find(({ id }) => id === chat.id.value) ?? {};

  const exportAs = async (kind: keyof typeof mediaTypes): Promise<File> => {
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
    return new File([text], `${fileName(title)}.${kind}`, { type: `${mediaTypes[kind]};charset=utf-8` });
  };
  const copy = async () => {
    await navigator.clipboard.writeText(await (await exportAs("md")).text());
    notice.value = words.copied;
  };
  /** Hands the conversation to the device's own list of people and programs. */
  const share = async () => {
    const file = await exportAs("html");
    const data = navigator.canShare?.({ files: [file] })
      ? { title, files: [file] }
      : { title, text: await (await exportAs("md")).text() };
    await navigator.share(data).catch((error: unknown) => {
      // The reader has closed the list.
      if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
    });
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
        {"share" in navigator && (
          <button type="button" onClick={() => act(share())}>
            {words.share}
          </button>
        )}
        <button type="button" onClick={() => act(copy())}>
          {words.copyConversation}
        </button>
        <button type="button" onClick={() => act(exportAs("md").then(save))}>
          {words.exportMarkdown}
        </button>
        <button type="button" onClick={() => act(exportAs("html").then(save))}>
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

function save(file: File): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
