import { useSignal } from "@preact/signals";
import { usePage } from "../state/page.js";
import { ChatView } from "./chat/chat-view.js";
import { DocumentsView } from "./documents/documents-view.js";
import { DropZone } from "./documents/drop-zone.js";
import { Overlays } from "./palette/overlays.js";
import { AskAbout } from "./source/ask-about.js";
import { IconButton } from "./icon-button.js";
import { Dialog } from "./dialog.js";
import { LiveRegion } from "./shell/live-region.js";
import { Notice } from "./shell/notice.js";
import { Sidebar } from "./shell/sidebar.js";
import { SignIn } from "./shell/sign-in.js";
import { SourcePanel } from "./source/source-panel.js";

/** The whole page: conversations at the left, the chat or the documents, and an open document at the right. */
export function App() {
  const page = usePage();
  const isMenuOpen = useSignal(false);
  const words = page.preferences.words.value;
  if (page.isSignedOut.value) return <SignIn />;
  const isNarrow = page.isNarrow.value;
  const { view } = page.router.route.value;
  const skip = () => document.querySelector<HTMLElement>("#question")?.focus();
  return (
    <div class="app">
      {view === "chat" && (
        <button type="button" class="skip" onClick={skip}>
          {words.skipToQuestion}
        </button>
      )}
      {!isNarrow && <Sidebar />}
      {isNarrow && isMenuOpen.value && (
        <Dialog label={words.conversations} kind="drawer" onClose={() => (isMenuOpen.value = false)}>
          <Sidebar onNavigate={() => (isMenuOpen.value = false)} />
        </Dialog>
      )}
      <main>
        {isNarrow && (
          <header class="bar">
            <IconButton icon="menu" label={words.openMenu} onClick={() => (isMenuOpen.value = true)} />
            <span class="bar-title">{page.status.value?.title}</span>
            <IconButton icon="plus" label={words.newConversation} onClick={() => page.router.go({ view: "chat" })} />
          </header>
        )}
        {view === "chat" ? <ChatView /> : <DocumentsView />}
      </main>
      <SourcePanel />
      <AskAbout />
      <Overlays />
      <DropZone />
      <Notice />
      <LiveRegion />
    </div>
  );
}
