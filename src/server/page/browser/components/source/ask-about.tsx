import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../../state/page.js";
import { Icon } from "../icon.js";

interface Selected {
  readonly text: string;
  readonly top: number;
  readonly left: number;
}

/** Longest selection that goes into a question, in characters. */
const maxCharacters = 500;

/** A button beside the words that are selected in a source, which puts them into the next question. */
export function AskAbout() {
  const { chat, preferences, router } = usePage();
  const words = preferences.words.value;
  const selected = useSignal<Selected | undefined>(undefined);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const onSelection = () => (selected.value = selectionInSource());
    document.addEventListener("selectionchange", onSelection);
    return () => document.removeEventListener("selectionchange", onSelection);
  }, []);
  const shown = selected.value;
  useEffect(() => {
    const element = button.current;
    if (!element || !shown) return;
    // Set by script, since the policy forbids styles in markup.
    element.style.top = `${shown.top}px`;
    element.style.left = `${Math.max(8, Math.min(shown.left, window.innerWidth - element.offsetWidth - 8))}px`;
  }, [shown]);
  if (!shown) return null;
  const ask = () => {
    chat.draft.value = `“${shown.text}” `;
    selected.value = undefined;
    document.getSelection()?.removeAllRanges();
    if (router.route.value.view !== "chat") router.go({ view: "chat" });
    requestAnimationFrame(() => {
      const field = document.querySelector<HTMLTextAreaElement>("#question");
      field?.focus();
      field?.setSelectionRange(field.value.length, field.value.length);
    });
  };
  return (
    <button
      ref={button}
      type="button"
      class="ask-about"
      // The selection would be gone before the click.
      onPointerDown={(event) => event.preventDefault()}
      onClick={ask}
    >
      <Icon name="talk" />
      {words.askAboutThis}
    </button>
  );
}

function selectionInSource(): Selected | undefined {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  const holder = range.commonAncestorContainer;
  const element = holder instanceof Element ? holder : holder.parentElement;
  const text = selection.toString().replace(/\s+/g, " ").trim();
  // A modal dialog lies above everything else, where the button could not be reached.
  if (text === "" || !element?.closest(".panel-body") || element.closest("dialog")) return undefined;
  const { bottom, left } = range.getBoundingClientRect();
  return { text: text.slice(0, maxCharacters), top: Math.min(bottom + 6, window.innerHeight - 48), left };
}
