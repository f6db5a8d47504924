import type { ComponentType } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { usePage } from "../../state/page.js";

interface Overlay {
  readonly Show: ComponentType<{ readonly onClose: () => void }>;
}

/** The code of each dialog. */
const loaders = {
  palette: async () => (await import("./palette.js")).Palette,
  shortcuts: async () => (await import("./shortcuts.js")).Shortcuts,
  answers: async () => (await import("../shell/answer-settings.js")).AnswerSettings,
} as const;

/** The dialog, or the view, that a key opens from anywhere on the page. */
function overlayOf(event: KeyboardEvent): "palette" | "shortcuts" | "new" | undefined {
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && !event.altKey && event.key.toLowerCase() === "k") return "palette";
  if (isCommand && event.shiftKey && event.key.toLowerCase() === "o") return "new";
  const { target } = event;
  const isTyping =
    target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
  return event.key === "?" && !isCommand && !isTyping ? "shortcuts" : undefined;
}

/** The palette, the list of shortcuts and the settings of answers. Their code is loaded when they are first opened. */
export function Overlays() {
  const { act, isSignedOut, overlay, router } = usePage();
  const shown = useSignal<Overlay | undefined>(undefined);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const wanted = isSignedOut.value ? undefined : overlayOf(event);
      if (wanted === undefined) return;
      event.preventDefault();
      if (wanted === "new") router.go({ view: "chat" });
      else if (document.querySelector("dialog[open]") === null) overlay.value = wanted;
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const wanted = overlay.value;
  useEffect(() => {
    shown.value = undefined;
    if (wanted === undefined) return;
    act(loaders[wanted]().then((Show) => (shown.value = { Show })));
  }, [wanted]);
  if (wanted === undefined || shown.value === undefined) return null;
  const { Show } = shown.value;
  return <Show onClose={() => (overlay.value = undefined)} />;
}
